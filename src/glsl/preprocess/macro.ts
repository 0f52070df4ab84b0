import type { Sources } from "../source.ts";
import { SPACE_BEFORE, T, type Token } from "../token.ts";
import type { Version } from "./version.ts";

/** A macro. `parameters` is undefined for an object-like one; `dynamic` gives the value of `__LINE__` and its like. */
export interface Macro {
  readonly name: string;
  readonly parameters: readonly string[] | undefined;
  readonly body: readonly Token[];
  readonly position: number;
  readonly end: number;
  readonly dynamic?: (use: Token, sources: Sources) => string;
  /** True while its expansion is being read: the name is not expanded again inside. */
  active: boolean;
}

/** Whether no shader's text defines it. */
export function isPredefined(macro: Macro): boolean {
  return macro.position < 0;
}

function initials(name: string): number {
  return 1 << (name.charCodeAt(0) & 31);
}

/** Macros that are there before the shader defines any, by name: made once for all shaders that have the same. */
interface Predefined {
  readonly byName: ReadonlyMap<string, Macro>;
  /** As in `Macros`. */
  readonly capitals: number;
}

/**
 * The macros of one compile. Those of the language and of extensions exist from the start, the latter made when they are
 * first asked for.
 */
export class Macros {
  /** The shader's own, and extensions that were asked for; undefined where a predefined one was taken away. */
  private own: Map<string, Macro | undefined> | undefined;
  private predefined: Predefined;
  /** A bit for each first letter that some macro has, capitals (with the underscore) and others apart: most words have none. */
  private capitals = initials("G");
  private others = 0;
  private readonly extensions: ReadonlySet<string>;

  constructor(extensions: ReadonlySet<string>, relaxed: boolean) {
    this.extensions = extensions;
    this.predefined = predefinedOf(undefined, relaxed);
    this.capitals |= this.predefined.capitals;
  }

  /** Fixes the version: it brings macros of its own. */
  setVersion(version: Version, relaxed: boolean): void {
    this.predefined = predefinedOf(version, relaxed);
    this.capitals |= this.predefined.capitals;
  }

  /** Whether there may be a macro whose name starts so: quick, and false for most words. */
  mayStartWith(first: number): boolean {
    return (((first < 96 ? this.capitals : this.others) >>> (first & 31)) & 1) !== 0;
  }

  get(name: string): Macro | undefined {
    if (!this.mayStartWith(name.charCodeAt(0))) return undefined;
    const { own } = this;
    if (own !== undefined) {
      const macro = own.get(name);
      if (macro !== undefined || own.has(name)) return macro;
    }
    const macro = this.predefined.byName.get(name);
    if (macro !== undefined || !name.startsWith("GL_") || !this.extensions.has(name)) return macro;
    const created = numberMacro(name, 1);
    this.set(name, created);
    return created;
  }

  has(name: string): boolean {
    if (this.own?.has(name) === true) return this.own.get(name) !== undefined;
    return this.predefined.byName.has(name) || (name.startsWith("GL_") && this.extensions.has(name));
  }

  set(name: string, macro: Macro): void {
    if (name.charCodeAt(0) < 96) this.capitals |= initials(name);
    else this.others |= initials(name);
    this.own ??= new Map();
    this.own.set(name, macro);
  }

  /** Takes a macro of the shader's own away, or a predefined one; names that start with `GL_` are none. */
  delete(name: string): void {
    this.own ??= new Map();
    if (this.predefined.byName.has(name)) this.own.set(name, undefined);
    else this.own.delete(name);
  }
}

/** Whether a second definition says the same: same parameters, same tokens, spaces in the same places. */
export function sameMacro(a: Macro, b: Macro): boolean {
  if (a.parameters?.join() !== b.parameters?.join() || a.body.length !== b.body.length) return false;
  return a.body.every((token, at) => {
    const other = b.body[at]!;
    const spaced = at > 0 && ((token.flags ^ other.flags) & SPACE_BEFORE) !== 0;
    return token.kind === other.kind && token.text === other.text && !spaced;
  });
}

/** A macro whose body is one integer, such as `__VERSION__` or an extension's name. */
function numberMacro(name: string, value: number): Macro {
  const body: Token[] = [{ kind: T.Number, text: String(value), keyword: T.Number, position: 0, end: 0, flags: 0 }];
  return { name, parameters: undefined, body, position: -1, end: -1, active: false };
}

/** A macro whose value depends on the place of its use. */
function dynamicMacro(name: string, value: (use: Token, sources: Sources) => string): Macro {
  return { name, parameters: undefined, body: [], position: -1, end: -1, dynamic: value, active: false };
}

const lineMacro = dynamicMacro("__LINE__", (use, sources) => String(sources.line(use.position).line));
const fileMacro = dynamicMacro("__FILE__", () => "0");

function madePredefined(version: Version | undefined, relaxed: boolean): Predefined {
  const macros = [lineMacro, fileMacro];
  if (!relaxed) macros.push(numberMacro("VULKAN", 100));
  if (version !== undefined) macros.push(numberMacro("__VERSION__", version.number));
  if (version?.es === true) {
    macros.push(numberMacro("GL_ES", 1), numberMacro("GL_FRAGMENT_PRECISION_HIGH", 1));
  } else if (version !== undefined && version.number >= 140) {
    macros.push(numberMacro("GL_core_profile", 1));
  }
  const byName = new Map(macros.map((macro) => [macro.name, macro]));
  return { byName, capitals: macros.reduce((bits, { name }) => bits | initials(name), 0) };
}

/** By version (0 before it is known), profile and dialect: all are few. */
const predefined = new Map<number, Predefined>();

function predefinedOf(version: Version | undefined, relaxed: boolean): Predefined {
  const number = version === undefined ? 0 : version.number;
  const key = 4 * number + (version?.es === true ? 2 : 0) + (relaxed ? 1 : 0);
  let made = predefined.get(key);
  if (made === undefined) {
    made = madePredefined(version, relaxed);
    predefined.set(key, made);
  }
  return made;
}
