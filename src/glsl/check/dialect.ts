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
  private readonly number: number;
  private readonly es: boolean;
  private readonly relaxed: boolean;
  private readonly extensions: ReadonlySet<string>;

  constructor({ version, relaxed, extensions }: CheckContext) {
    this.number = version.number;
    this.es = version.es;
    this.relaxed = relaxed;
    this.extensions = extensions;
  }

  /** Whether it is that of the shader: all is compared that the rank of a conversion or a row's presence depends on. */
  isOf({ version, relaxed, extensions }: CheckContext): boolean {
    const same = this.number === version.number && this.es === version.es && this.relaxed === relaxed;
    if (!same || this.extensions.size !== extensions.size) return false;
    for (const name of extensions) if (!this.extensions.has(name)) return false;
    return true;
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

/** Dialects are as many as shaders ask for: the oldest are forgotten, and made again when somebody asks. */
const DIALECT_LIMIT = 512;
const dialects = new Map<string, Dialect>();
let latest: Dialect | undefined;

export function dialectOf(context: CheckContext): Dialect {
  if (latest?.isOf(context) === true) return latest;
  const { version, relaxed, extensions } = context;
  let key = `${version.number}${version.es ? " es" : ""}${relaxed ? " relaxed" : ""}`;
  for (const name of extensions) key += ` ${name}`;
  latest = dialects.get(key);
  if (latest !== undefined) return latest;
  if (dialects.size >= DIALECT_LIMIT) for (const oldest of dialects.keys()) if (dialects.delete(oldest)) break;
  latest = new Dialect(context);
  dialects.set(key, latest);
  return latest;
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
