import { builtinOverloads, type Overload } from "../builtins/index.ts";
import { scalarFacts, scalarOf, type Type } from "../types/index.ts";
import type { CheckContext } from "./base.ts";
import type { Expr } from "./tree.ts";

/** What the types of the first arguments decide: the overload where they are all, and what follows from one more. */
interface Resolution {
  chosen: Overload | undefined;
  readonly next: Map<Type, Resolution>;
}

/** The overloads of a built-in function that a dialect has. */
export interface KnownFunction {
  readonly overloads: readonly Overload[];
  readonly root: Resolution;
}

const none: KnownFunction = { overloads: [], root: { chosen: undefined, next: new Map() } };

/** What version, dialect and extensions decide about the built-in functions: made once for all shaders that share them. */
export class Dialect {
  private readonly functions = new Map<string, KnownFunction>();
  private readonly extensions: ReadonlySet<string>;

  constructor(extensions: ReadonlySet<string>) {
    this.extensions = extensions;
  }

  function(name: string): KnownFunction {
    const known = this.functions.get(name);
    if (known !== undefined) return known;
    const overloads = builtinOverloads(name).filter((overload) => this.has(overload));
    if (overloads.length === 0) return none;
    const made: KnownFunction = { overloads, root: { chosen: undefined, next: new Map() } };
    this.functions.set(name, made);
    return made;
  }

  private has({ extensions, lowering, parameters }: Overload): boolean {
    const has = this.extensions;
    if (extensions.length > 0 && !extensions.some((name) => has.has(name))) return false;
    const [first] = parameters;
    const scalar = lowering === "subgroup" && first !== undefined ? scalarOf(first.type) : undefined;
    if (scalar === undefined) return true;
    const { kind, bits } = scalarFacts[scalar];
    if (bits === 32 || scalar === "double") return true;
    return has.has(`GL_EXT_shader_subgroup_extended_types_${kind === "float" ? "float" : "int"}${bits}`);
  }
}

/** Dialects are as many as shaders ask for: beyond this they are forgotten. */
const DIALECT_LIMIT = 64;
const dialects = new Map<string, Dialect>();

/** The dialect of a shader. Everything that the rank of a conversion or a row's presence depends on is part of the key. */
export function dialectOf({ version, relaxed, extensions }: CheckContext): Dialect {
  let key = `${version.number}${version.es ? "e" : ""}${relaxed ? "r" : ""}`;
  for (const name of extensions) key += `,${name}`;
  let dialect = dialects.get(key);
  if (dialect === undefined) {
    if (dialects.size >= DIALECT_LIMIT) dialects.clear();
    dialect = new Dialect(extensions);
    dialects.set(key, dialect);
  }
  return dialect;
}

/** Types that are one object each: only what they decide may be remembered. */
function isShared(type: Type): boolean {
  return type.kind === "scalar" || type.kind === "vector" || type.kind === "matrix" || type.kind === "opaque";
}

/** The overload that arguments of these types chose before. */
export function rememberedOverload(known: KnownFunction, args: readonly Expr[]): Overload | undefined {
  let at: Resolution | undefined = known.root;
  for (let arg = 0; at !== undefined && arg < args.length; arg++) at = at.next.get(args[arg]!.type);
  return at?.chosen;
}

export function rememberOverload(known: KnownFunction, args: readonly Expr[], chosen: Overload): void {
  let at = known.root;
  for (const { type } of args) {
    if (!isShared(type)) return;
    let next = at.next.get(type);
    if (next === undefined) {
      next = { chosen: undefined, next: new Map() };
      at.next.set(type, next);
    }
    at = next;
  }
  at.chosen = chosen;
}
