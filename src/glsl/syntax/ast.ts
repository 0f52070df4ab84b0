/** The tree that the parser makes: names unresolved, types unchecked. Every node has its range of positions. */

interface Node {
  readonly position: number;
  readonly end: number;
}

export interface NameExpr extends Node {
  readonly kind: "name";
  readonly name: string;
}
export interface LiteralExpr extends Node {
  readonly kind: "literal";
  readonly scalar: "bool" | "int" | "uint" | "float" | "double" | "int16" | "uint16" | "int64" | "uint64" | "float16";
  /** Upper 32 bits of a 64-bit integer whose value a double cannot hold; `value` is the lower ones then. */
  readonly high?: number | undefined;
  readonly value: number;
}
/** A type used as a constructor's name: `vec3`, `float[2]`. */
interface TypeExpr extends Node {
  readonly kind: "type";
  readonly type: TypeSpecifier;
}
export interface CallExpr extends Node {
  readonly kind: "call";
  readonly callee: Expr;
  readonly args: readonly Expr[];
}
/** `index` is absent in `S[](…)`. */
export interface IndexExpr extends Node {
  readonly kind: "index";
  readonly base: Expr;
  readonly index: Expr | undefined;
}
export interface MemberExpr extends Node {
  readonly kind: "member";
  readonly base: Expr;
  readonly name: string;
  readonly namePosition: number;
}
export type UnaryOp = "+" | "-" | "!" | "~";
interface UnaryExpr extends Node {
  readonly kind: "unary";
  readonly op: UnaryOp;
  readonly operand: Expr;
}
export interface IncrementExpr extends Node {
  readonly kind: "increment";
  readonly op: "++" | "--";
  readonly prefix: boolean;
  readonly operand: Expr;
}
export type BinaryOp =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "<<"
  | ">>"
  | "&"
  | "|"
  | "^"
  | "<"
  | ">"
  | "<="
  | ">="
  | "=="
  | "!="
  | "&&"
  | "||"
  | "^^";
/** Left-deep chains are as long as the source has them: walk the left side in a loop, not by recursion. */
export interface BinaryExpr extends Node {
  readonly kind: "binary";
  readonly op: BinaryOp;
  readonly left: Expr;
  readonly right: Expr;
  readonly opPosition: number;
}
export interface AssignExpr extends Node {
  readonly kind: "assign";
  /** Undefined for plain `=`. */
  readonly op: BinaryOp | undefined;
  readonly target: Expr;
  readonly value: Expr;
  readonly opPosition: number;
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
/** A text in quotes, escapes resolved. */
interface TextExpr extends Node {
  readonly kind: "text";
  readonly text: string;
}
/** `{ … }` after an `=`. */
interface ListExpr extends Node {
  readonly kind: "list";
  readonly items: readonly Expr[];
}
export type Expr =
  | NameExpr
  | LiteralExpr
  | TypeExpr
  | CallExpr
  | IndexExpr
  | MemberExpr
  | UnaryExpr
  | IncrementExpr
  | BinaryExpr
  | AssignExpr
  | ConditionalExpr
  | CommaExpr
  | TextExpr
  | ListExpr;

export interface LayoutId extends Node {
  readonly name: string;
  readonly value: Expr | undefined;
}
/** One qualifier in source order; `layout` carries its identifiers. */
export interface Qualifier extends Node {
  readonly name: string;
  readonly layout: readonly LayoutId[] | undefined;
}

/** Array sizes in source order, outermost first; undefined for `[]`. */
export type Dimensions = readonly (Expr | undefined)[];

export interface TypeSpecifier extends Node {
  /** Keyword or struct name; empty for an unnamed struct. */
  readonly name: string;
  readonly builtin: boolean;
  readonly struct: StructSpecifier | undefined;
  readonly dimensions: Dimensions;
}
export interface StructSpecifier extends Node {
  readonly name: string;
  readonly members: readonly VariableDecl[];
}
export interface Declarator extends Node {
  readonly name: string;
  readonly dimensions: Dimensions;
  readonly initializer: Expr | undefined;
}
/** `qualifiers type a, b[2] = …;` also as a struct or block member list. No declarators: the type alone. */
export interface VariableDecl extends Node {
  readonly kind: "variables";
  readonly qualifiers: readonly Qualifier[];
  readonly type: TypeSpecifier;
  readonly declarators: readonly Declarator[];
}
export interface BlockDecl extends Node {
  readonly kind: "block";
  readonly qualifiers: readonly Qualifier[];
  readonly name: string;
  readonly namePosition: number;
  readonly members: readonly VariableDecl[];
  readonly instance: Declarator | undefined;
}
export interface Parameter extends Node {
  readonly qualifiers: readonly Qualifier[];
  readonly type: TypeSpecifier;
  readonly name: string | undefined;
  readonly dimensions: Dimensions;
}
export interface FunctionDecl extends Node {
  readonly kind: "function";
  readonly qualifiers: readonly Qualifier[];
  readonly returns: TypeSpecifier;
  readonly name: string;
  readonly namePosition: number;
  readonly parameters: readonly Parameter[];
  readonly body: CompoundStmt | undefined;
  /** Some of the body could not be read. */
  readonly broken: boolean;
}
/** `layout(local_size_x = 8) in;` or, with names, `invariant gl_Position;`. */
export interface QualifierDecl extends Node {
  readonly kind: "qualifiers";
  readonly qualifiers: readonly Qualifier[];
  readonly names: readonly NameExpr[];
}
export interface PrecisionDecl extends Node {
  readonly kind: "precision";
  readonly precision: string;
  readonly type: TypeSpecifier;
}
export type Decl = VariableDecl | BlockDecl | FunctionDecl | QualifierDecl | PrecisionDecl;

/** `[[unroll]]` and its like, in front of a selection or loop. */
export interface Attribute extends Node {
  readonly name: string;
  readonly value: Expr | undefined;
}
export interface CompoundStmt extends Node {
  readonly kind: "compound";
  readonly body: readonly Stmt[];
}
export interface DeclStmt extends Node {
  readonly kind: "declaration";
  readonly decl: VariableDecl | QualifierDecl | PrecisionDecl | FunctionDecl;
}
interface ExprStmt extends Node {
  readonly kind: "expression";
  readonly expr: Expr;
}
/** `if … else if … else …` as one list, so that long chains need no recursion. */
interface IfStmt extends Node {
  readonly kind: "if";
  readonly arms: readonly { readonly condition: Expr; readonly body: Stmt }[];
  readonly otherwise: Stmt | undefined;
  readonly attributes: readonly Attribute[];
}
/** A condition may declare one variable: `while (bool b = f())`. */
export type Condition = Expr | VariableDecl;
export interface ForStmt extends Node {
  readonly kind: "for";
  readonly init: Stmt | undefined;
  readonly condition: Condition | undefined;
  readonly step: Expr | undefined;
  readonly body: Stmt;
  readonly attributes: readonly Attribute[];
}
export interface WhileStmt extends Node {
  readonly kind: "while";
  readonly condition: Condition;
  readonly body: Stmt;
  readonly attributes: readonly Attribute[];
}
interface DoStmt extends Node {
  readonly kind: "do";
  readonly condition: Expr;
  readonly body: Stmt;
  readonly attributes: readonly Attribute[];
}
export interface SwitchStmt extends Node {
  readonly kind: "switch";
  readonly selector: Expr;
  readonly body: readonly Stmt[];
  readonly attributes: readonly Attribute[];
}
/** `case value:`, or `default:` where the value is undefined. */
export interface CaseStmt extends Node {
  readonly kind: "case";
  readonly value: Expr | undefined;
}
interface JumpStmt extends Node {
  readonly kind: "break" | "continue" | "discard";
}
export interface ReturnStmt extends Node {
  readonly kind: "return";
  readonly value: Expr | undefined;
}
interface EmptyStmt extends Node {
  readonly kind: "empty";
}
export type Stmt =
  | CompoundStmt
  | DeclStmt
  | ExprStmt
  | IfStmt
  | ForStmt
  | WhileStmt
  | DoStmt
  | SwitchStmt
  | CaseStmt
  | JumpStmt
  | ReturnStmt
  | EmptyStmt;

export interface TranslationUnit {
  readonly decls: readonly Decl[];
  /** Names in text that the parser could not read: a use of one is no second error. */
  readonly lostNames: ReadonlySet<string>;
  /** Semicolons between declarations. */
  readonly strays: readonly Node[];
}
