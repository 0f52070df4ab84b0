import type { ReferenceType, StructType } from "../types/index.ts";
import type { FunctionSymbol, Variable } from "./tree.ts";

/** All functions of one name that a scope declares. */
export interface FunctionSet {
  readonly kind: "functions";
  functions: FunctionSymbol[];
}
interface StructSymbol {
  readonly kind: "struct";
  readonly type: StructType | ReferenceType;
  readonly position: number;
  readonly end: number;
}
/** A member of a block without instance name, visible by its own name. */
interface MemberAlias {
  readonly kind: "member";
  readonly block: Variable;
  readonly member: number;
  readonly position: number;
  readonly end: number;
}
/** A name whose first use or declaration was an error: further uses are silent. */
interface LostSymbol {
  readonly kind: "lost";
}
export type ScopeSymbol = Variable | FunctionSet | StructSymbol | MemberAlias | LostSymbol;

/** A declaration of a name, above the one that it hides. */
interface ScopeEntry {
  symbol: ScopeSymbol;
  readonly cell: Cell;
  /** 0: global. */
  readonly depth: number;
  outer: ScopeEntry | undefined;
}

/** What a name means now. */
interface Cell {
  readonly name: string;
  entry: ScopeEntry | undefined;
}

/** A shader with more names than these leaves no cells to the next. */
const CELL_LIMIT = 4096;

/**
 * Nested scopes. Each name has one cell with its innermost declaration, so that a look-up is one, however deep; cells stay
 * for the shaders to come, which have many of the names.
 */
export class Scopes {
  private cells = new Map<string, Cell>();
  /** What each scope declares, the global one first; those that are closed are empty. */
  private readonly declared: ScopeEntry[][] = [[]];
  private depth = 0;

  /** Closes all scopes, and forgets what the global one declares. */
  clear(): void {
    while (this.depth > 0) this.pop();
    this.close(0);
    if (this.cells.size > CELL_LIMIT) this.cells = new Map();
  }

  push(): void {
    this.depth++;
    if (this.declared.length <= this.depth) this.declared.push([]);
  }

  pop(): void {
    this.close(this.depth--);
  }

  private close(depth: number): void {
    const declared = this.declared[depth]!;
    for (let entry = declared.pop(); entry !== undefined; entry = declared.pop()) entry.cell.entry = entry.outer;
  }

  get isGlobal(): boolean {
    return this.depth === 0;
  }

  lookup(name: string): ScopeSymbol | undefined {
    return this.cells.get(name)?.entry?.symbol;
  }

  /** Only what the innermost scope itself declares. */
  lookupHere(name: string): ScopeSymbol | undefined {
    const entry = this.cells.get(name)?.entry;
    return entry !== undefined && entry.depth === this.depth ? entry.symbol : undefined;
  }

  lookupGlobal(name: string): ScopeSymbol | undefined {
    let entry = this.cells.get(name)?.entry;
    while (entry !== undefined && entry.depth > 0) entry = entry.outer;
    return entry?.symbol;
  }

  set(name: string, symbol: ScopeSymbol): void {
    this.setAt(this.depth, name, symbol);
  }

  setGlobal(name: string, symbol: ScopeSymbol): void {
    this.setAt(0, name, symbol);
  }

  /** Remembers a name as lost for the rest of the function. */
  lose(name: string): void {
    this.setAt(Math.min(1, this.depth), name, { kind: "lost" });
  }

  private setAt(depth: number, name: string, symbol: ScopeSymbol): void {
    let cell = this.cells.get(name);
    if (cell === undefined) {
      cell = { name, entry: undefined };
      this.cells.set(name, cell);
    }
    let inner: ScopeEntry | undefined;
    let outer = cell.entry;
    for (; outer !== undefined && outer.depth > depth; outer = outer.outer) inner = outer;
    if (outer !== undefined && outer.depth === depth) {
      outer.symbol = symbol;
      return;
    }
    const entry: ScopeEntry = { symbol, cell, depth, outer };
    if (inner === undefined) cell.entry = entry;
    else inner.outer = entry;
    this.declared[depth]!.push(entry);
  }

  /** All names, those of the outer scopes first, of each in the order of their declarations. */
  *names(): Iterable<string> {
    for (let depth = 0; depth <= this.depth; depth++) {
      for (const { cell } of this.declared[depth]!) yield cell.name;
    }
  }
}
