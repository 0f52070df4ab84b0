/**
 * Programs of control flow as trees: expressions that know their text and what they give in a lane, statements that
 * `render.ts` makes GLSL of and `run.ts` executes. Neither looks at the other, nor at a compiler.
 */

export type Type = "uint" | "int" | "bool" | "uint64_t" | "int64_t" | "uint16_t" | "int16_t";
/** 64-bit integers are bigint, all others number; what is unsigned is not negative. */
export type Value = number | bigint | boolean;
export interface Fields {
  a: Value;
  b: Value[];
  c: Value;
  h: Value[];
}
type Stored = Value | Value[] | Fields | Fields[];

/** One invocation: its variables by name (all names differ), and where it is going. */
export interface Lane {
  readonly id: number;
  readonly vars: Record<string, Stored>;
  /** Why the lane waits: it left its loop or switch, its round, its function. */
  jump: "" | "break" | "continue" | "return";
  result: Value;
}

export interface Expression {
  readonly type: Type;
  readonly text: string;
  value(lane: Lane): Value;
}

/** Something that can be assigned. */
export interface Place extends Expression {
  put(lane: Lane, value: Value): void;
}

export type LaneOp =
  | "Add"
  | "Min"
  | "Max"
  | "And"
  | "Or"
  | "Xor"
  | "InclusiveAdd"
  | "ExclusiveAdd"
  | "InclusiveOr"
  | "BroadcastFirst"
  | "Count"
  | "Any"
  | "All"
  | "Elect";

export type Statement =
  /** What each lane does by itself. */
  | { readonly kind: "do"; readonly text: string; run(lane: Lane): void }
  | { readonly kind: "lanes"; readonly op: LaneOp; readonly to: Place; readonly of: Expression }
  | {
      readonly kind: "if";
      readonly on: Expression;
      readonly yes: readonly Statement[];
      readonly no?: readonly Statement[];
    }
  | {
      readonly kind: "loop";
      /**
       * for: tested in front, counted behind; while: tested in front, counted first; do: counted first, tested behind;
       * ever: counted first, left where the test fails by `leave`; once: without a test, the body ends in `break`.
       */
      readonly form: "for" | "while" | "do" | "ever" | "once";
      readonly counter: string;
      readonly step: number;
      /** Whether there is another round; reads the counter. */
      readonly test: Expression;
      readonly leave: readonly Statement[];
      readonly body: readonly Statement[];
    }
  | { readonly kind: "switch"; readonly selector: Expression; readonly cases: readonly Case[] }
  | { readonly kind: "jump"; readonly to: "break" | "continue" | "return"; readonly value?: Expression }
  | {
      readonly kind: "call";
      readonly to: Place;
      readonly callee: Callee;
      readonly values: readonly Expression[];
      /** Of the parameter that is written. */
      readonly changed?: Place;
    }
  /** `to` gets what invocation `from` mod 64 has for `of`. */
  | { readonly kind: "exchange"; readonly to: Place; readonly of: Expression; readonly from: Expression }
  /** The fragment is discarded, or becomes a helper. */
  | { readonly kind: "kill"; readonly text: string };

export interface Case {
  readonly labels: readonly number[];
  readonly isDefault: boolean;
  readonly body: readonly Statement[];
}

export interface Callee {
  readonly name: string;
  readonly type: Type;
  readonly parameters: readonly { readonly name: string; readonly type: Type }[];
  /** The first parameter is inout. */
  readonly writes: boolean;
  readonly body: readonly Statement[];
}

export type Stage = "compute" | "vertex" | "fragment";

/** A whole shader; its functions in the order of their definitions. */
export interface Flow {
  readonly seed: number;
  readonly stage: Stage;
  readonly functions: readonly Callee[];
  readonly body: readonly Statement[];
}

export const INVOCATIONS = 64;
/** Words that an invocation reads from `a`, and that it has in `o`; words of the workgroup's memory that are its own. */
export const WORDS = 16;
export const OWN = 8;
export const UNIFORMS = 8;
export const TABLE = [3, 0xffffffff, 17, 0, 0x80000000, 5, 1000, 2] as const;

export const bitsOf: Readonly<Record<Type, number>> = {
  uint: 32,
  int: 32,
  bool: 1,
  uint64_t: 64,
  int64_t: 64,
  uint16_t: 16,
  int16_t: 16,
};

/** The value as one of the type: bits above are dropped. */
export function wrap(type: Type, value: Value): Value {
  switch (type) {
    case "bool":
      return Boolean(value);
    case "uint64_t":
      return BigInt.asUintN(64, BigInt(value));
    case "int64_t":
      return BigInt.asIntN(64, BigInt(value));
    default: {
      const word = typeof value === "bigint" ? Number(BigInt.asUintN(32, value)) : Number(value) >>> 0;
      if (type === "uint") return word;
      if (type === "int") return word | 0;
      return type === "uint16_t" ? word & 0xffff : (word << 16) >> 16;
    }
  }
}
