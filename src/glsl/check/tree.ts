import type { Overload } from "../builtins/index.ts";
import type { BinaryOp } from "../syntax/index.ts";
import type { MemoryQualifier, Packing, Type } from "../types/index.ts";

/** 0: known at run time only; 1: constant expression; 2: depends on a specialisation constant. */
export type Constness = 0 | 1 | 2;

export type Storage =
  | "local"
  | "parameter"
  | "global"
  | "constant"
  | "specialization"
  | "shared"
  | "buffer"
  | "uniform"
  | "pushConstant"
  | "in"
  | "out";

export interface BlockLayout {
  readonly packing: Packing;
  readonly rowMajor: boolean;
}

/** Where transform feedback puts a variable; of a block's members each has its own offset, in bytes. */
export interface Capture {
  readonly buffer: number;
  readonly offset: number | undefined;
}

/** A variable, parameter, block or named constant. Mutable while the checker learns more about it. */
export interface Variable {
  readonly kind: "variable";
  readonly name: string;
  type: Type;
  readonly storage: Storage;
  readonly position: number;
  readonly end: number;
  /** May not be assigned, for the reason that the storage gives or a `const`. */
  readonly constant: boolean;
  /** Leaves of a constant's value, where it could be worked out. */
  readonly value: readonly Component[] | undefined;
  readonly constness: Constness;
  /** Initialiser of a global variable, or of a constant whose value is left to the machine or to specialisation. */
  readonly initializer: Expr | undefined;
  readonly specId: number | undefined;
  readonly set: number | undefined;
  binding: number | undefined;
  location: number | undefined;
  readonly component: number | undefined;
  /** Second input of the blend equation. */
  readonly index: number | undefined;
  readonly inputAttachmentIndex: number | undefined;
  capture: Capture | undefined;
  readonly interpolation: readonly string[] | undefined;
  readonly memory: readonly MemoryQualifier[] | undefined;
  readonly layout: BlockLayout | undefined;
  /** Values read from it may differ between invocations of a subgroup. */
  readonly nonUniform: boolean | undefined;
  /** An array of resources declared `[]` that is indexed by more than constants: its size is the descriptor set's. */
  runtimeSized: boolean | undefined;
  /** Name of the SPIR-V BuiltIn. */
  readonly builtIn: string | undefined;
  /** Name of the capability that using it needs. */
  readonly capability: string | undefined;
  readonly mode: "in" | "out" | "inout" | undefined;
  precise: boolean;
  invariant: boolean;
  /** Highest constant index into an array declared `[]`, for the size that it takes at the end. */
  highestIndex: number;
  /** Where the emitter keeps it. */
  slot: Slot | undefined;
}

/** A variable in the module of a number: its id and, of a parameter, its type as the argument has it. */
export interface Slot {
  readonly module: number;
  readonly id: number;
  readonly storageClass: number;
  readonly type: Type | undefined;
}

export interface FunctionSymbol {
  readonly kind: "function";
  readonly name: string;
  readonly returns: Type;
  readonly precise: boolean;
  parameters: readonly Variable[];
  readonly position: number;
  readonly end: number;
  body: readonly Stmt[] | undefined;
  /** Position of the body's closing brace. */
  closing: number;
  calls: Map<FunctionSymbol, { readonly position: number; readonly end: number }>;
  /** The emitter's mark: its id in the module of that number. */
  module: number;
  id: number;
}

/** A component of a constant. A bigint is a 64-bit integer beyond +-(2^53 - 1), which no double holds for sure. */
export type Component = number | bigint;

interface Node {
  readonly type: Type;
  readonly constness: Constness;
  readonly position: number;
  readonly end: number;
}

/** `values`: the leaves of the type in order, columns first; bool 0 or 1, ints as their signed or unsigned value. */
export interface ConstantExpr extends Node {
  readonly kind: "constant";
  readonly values: readonly Component[];
}
interface VariableExpr extends Node {
  readonly kind: "variable";
  readonly variable: Variable;
}
interface IndexExpr extends Node {
  readonly kind: "index";
  readonly base: Expr;
  readonly index: Expr;
}
interface MemberExpr extends Node {
  readonly kind: "member";
  readonly base: Expr;
  readonly member: number;
}
interface SwizzleExpr extends Node {
  readonly kind: "swizzle";
  readonly base: Expr;
  readonly components: readonly number[];
}
/** The block that a reference points to; what follows is an access chain in that memory. */
interface DerefExpr extends Node {
  readonly kind: "deref";
  /** A value of reference type. */
  readonly base: Expr;
}
/** `.length()` of a runtime array; the others are constants. The base is a member of a buffer block. */
interface LengthExpr extends Node {
  readonly kind: "length";
  readonly base: Expr;
}
export interface UnaryExpr extends Node {
  readonly kind: "unary";
  readonly op: "-" | "!" | "~";
  readonly operand: Expr;
}
/** Operands have one component type (shift counts apart); a scalar beside a vector or matrix stands for all of it. */
export interface BinaryExpr extends Node {
  readonly kind: "binary";
  readonly op: BinaryOp;
  readonly left: Expr;
  readonly right: Expr;
}
/** Same shape, other component type. */
interface ConvertExpr extends Node {
  readonly kind: "convert";
  readonly operand: Expr;
}
/**
 * A constructor. Arguments have the component type of the result. `splat`: one scalar for a vector; `diagonal`: one
 * scalar for a matrix; `resize`: a matrix from a matrix; `components`: leaves in order; `members`: one argument each;
 * `sampled`: a texture and a sampler.
 */
export interface ConstructExpr extends Node {
  readonly kind: "construct";
  readonly form: "splat" | "diagonal" | "resize" | "components" | "members" | "sampled";
  readonly args: readonly Expr[];
}
export interface CallExpr extends Node {
  readonly kind: "call";
  readonly callee: FunctionSymbol;
  readonly args: readonly Expr[];
}
export interface BuiltinExpr extends Node {
  readonly kind: "builtin";
  readonly overload: Overload;
  readonly args: readonly Expr[];
}
export interface AssignExpr extends Node {
  readonly kind: "assign";
  readonly op: BinaryOp | undefined;
  readonly target: Expr;
  readonly value: Expr;
}
export interface IncrementExpr extends Node {
  readonly kind: "increment";
  readonly op: "+" | "-";
  readonly prefix: boolean;
  readonly target: Expr;
}
export interface ConditionalExpr extends Node {
  readonly kind: "conditional";
  readonly condition: Expr;
  readonly yes: Expr;
  readonly no: Expr;
}
interface CommaExpr extends Node {
  readonly kind: "comma";
  readonly items: readonly Expr[];
}
/** The format of `debugPrintfEXT`, escapes resolved. */
interface TextExpr extends Node {
  readonly kind: "text";
  readonly text: string;
}
/** Stands where an error was reported. */
interface ErrorExpr extends Node {
  readonly kind: "error";
}
export type Expr =
  | ConstantExpr
  | VariableExpr
  | IndexExpr
  | MemberExpr
  | SwizzleExpr
  | LengthExpr
  | DerefExpr
  | TextExpr
  | UnaryExpr
  | BinaryExpr
  | ConvertExpr
  | ConstructExpr
  | CallExpr
  | BuiltinExpr
  | AssignExpr
  | IncrementExpr
  | ConditionalExpr
  | CommaExpr
  | ErrorExpr;

interface StmtNode {
  readonly position: number;
}
export interface DeclareStmt extends StmtNode {
  readonly kind: "declare";
  readonly variable: Variable;
  readonly initializer: Expr | undefined;
}
interface ExprStmt extends StmtNode {
  readonly kind: "expression";
  readonly expr: Expr;
}
interface BlockStmt extends StmtNode {
  readonly kind: "block";
  readonly body: readonly Stmt[];
}
export type SelectionHint = "flatten" | "dont_flatten" | undefined;
export interface IfStmt extends StmtNode {
  readonly kind: "if";
  readonly arms: readonly { readonly condition: Expr; readonly body: readonly Stmt[] }[];
  readonly otherwise: readonly Stmt[] | undefined;
  readonly hint: SelectionHint;
}
export type LoopHint = "unroll" | "dont_unroll" | undefined;
/** `declare` runs before each test; `testFirst` is false for do-while. */
export interface LoopStmt extends StmtNode {
  readonly kind: "loop";
  readonly declare: DeclareStmt | undefined;
  readonly condition: Expr | undefined;
  readonly step: Expr | undefined;
  readonly body: readonly Stmt[];
  readonly testFirst: boolean;
  readonly hint: LoopHint;
}
export interface SwitchCase {
  readonly values: readonly number[];
  readonly isDefault: boolean;
  readonly body: readonly Stmt[];
}
export interface SwitchStmt extends StmtNode {
  readonly kind: "switch";
  readonly selector: Expr;
  readonly cases: readonly SwitchCase[];
  readonly hint: SelectionHint;
}
interface JumpStmt extends StmtNode {
  readonly kind: "break" | "continue" | "discard" | "demote" | "terminate";
}
interface ReturnStmt extends StmtNode {
  readonly kind: "return";
  readonly value: Expr | undefined;
}
export type Stmt = DeclareStmt | ExprStmt | BlockStmt | IfStmt | LoopStmt | SwitchStmt | JumpStmt | ReturnStmt;

/** One dimension of the workgroup: its size, and the specialisation constant that may replace it. */
export interface LocalSize {
  readonly size: number;
  readonly specId: number | undefined;
}

/** A checked shader, free of errors. */
export interface Module {
  readonly main: FunctionSymbol;
  /** Module-level variables in source order, named constants and block variables with them. */
  readonly globals: readonly Variable[];
  readonly localSize: readonly [LocalSize, LocalSize, LocalSize];
  /** The constant `gl_WorkGroupSize`, where it is used. */
  readonly workGroupSize: Variable | undefined;
  readonly earlyFragmentTests: boolean;
  readonly postDepthCoverage: boolean;
  readonly depthMode: string | undefined;
  readonly originUpperLeft: boolean;
  /** Strides of the buffers that transform feedback writes, in bytes. */
  readonly captureStrides: ReadonlyMap<number, number>;
}
