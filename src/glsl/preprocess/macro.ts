import { SPACE_BEFORE, T, type Token } from "../token.ts";

/** A macro. `parameters` is undefined for an object-like one; `dynamic` gives the value of `__LINE__` and its like. */
export interface Macro {
  readonly name: string;
  readonly parameters: readonly string[] | undefined;
  readonly body: readonly Token[];
  readonly position: number;
  readonly end: number;
  readonly dynamic?: (use: Token) => string;
  /** True while its expansion is being read: the name is not expanded again inside. */
  active: boolean;
}

function initials(name: string): number {
  return 1 << (name.charCodeAt(0) & 31);
}

/** The macros of one compile. Those of extensions exist from the start, but are made when they are first asked for. */
export class Macros {
  private readonly made = new Map<string, Macro>();
  /** A bit for each first letter that some macro has, capitals (with the underscore) and others apart: most words have none. */
  private capitals = initials("G");
  private others = 0;
  private readonly extensions: ReadonlySet<string>;

  constructor(extensions: ReadonlySet<string>) {
    this.extensions = extensions;
  }

  get(name: string): Macro | undefined {
    const first = name.charCodeAt(0);
    if ((((first < 96 ? this.capitals : this.others) >>> (first & 31)) & 1) === 0) return undefined;
    const macro = this.made.get(name);
    if (macro !== undefined || !name.startsWith("GL_") || !this.extensions.has(name)) return macro;
    const created = numberMacro(name, 1);
    this.made.set(name, created);
    return created;
  }

  has(name: string): boolean {
    return this.made.has(name) || (name.startsWith("GL_") && this.extensions.has(name));
  }

  set(name: string, macro: Macro): void {
    if (name.charCodeAt(0) < 96) this.capitals |= initials(name);
    else this.others |= initials(name);
    this.made.set(name, macro);
  }

  /** Takes a macro of the shader's own away; names that start with `GL_` are none. */
  delete(name: string): void {
    this.made.delete(name);
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

interface NumberMacro {
  readonly value: number;
  readonly macro: Macro;
}

/** Those asked for last, by name: names and values are few. */
const numberMacros = new Map<string, NumberMacro>();

/** A macro whose body is one integer, such as `__VERSION__` or an extension's name. Compiles one after another share it. */
export function numberMacro(name: string, value: number): Macro {
  const known = numberMacros.get(name);
  if (known !== undefined && known.value === value) {
    // a compile that was cut short may have left it in the middle of its expansion
    known.macro.active = false;
    return known.macro;
  }
  const macro = madeNumber(name, value);
  numberMacros.set(name, { value, macro });
  return macro;
}

function madeNumber(name: string, value: number): Macro {
  const body: Token[] = [{ kind: T.Number, text: String(value), keyword: T.Number, position: 0, end: 0, flags: 0 }];
  return { name, parameters: undefined, body, position: -1, end: -1, active: false };
}

/** A macro whose value depends on the place of its use. */
export function dynamicMacro(name: string, value: (use: Token) => string): Macro {
  return { name, parameters: undefined, body: [], position: -1, end: -1, dynamic: value, active: false };
}
