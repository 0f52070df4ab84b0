import type { DeclareStmt, Expr, Stmt, Variable } from "./tree.ts";

/** What a statement without parts that are taken or left may have. */
interface Simple {
  readonly kind: Stmt["kind"];
  readonly position: number;
  variable: Variable | undefined;
  initializer: Expr | undefined;
  expr: Expr | undefined;
  value: Expr | undefined;
  body: readonly Stmt[] | undefined;
}

type Of<K extends Stmt["kind"]> = Extract<Stmt, { readonly kind: K }>;

/**
 * A statement of which only the common part is set. Those that are not selections or loops have one shape, for the reason
 * that nodes of expressions have few.
 */
function simple(kind: Stmt["kind"], position: number): Simple {
  return {
    kind,
    position,
    variable: undefined,
    initializer: undefined,
    expr: undefined,
    value: undefined,
    body: undefined,
  };
}

export function declareStatement(variable: Variable, position: number): DeclareStmt {
  const node = simple("declare", position);
  node.variable = variable;
  node.initializer = variable.initializer;
  return node as DeclareStmt;
}

export function expressionStatement(expr: Expr, position: number): Of<"expression"> {
  const node = simple("expression", position);
  node.expr = expr;
  return node as Of<"expression">;
}

export function blockStatement(body: readonly Stmt[], position: number): Of<"block"> {
  const node = simple("block", position);
  node.body = body;
  return node as Of<"block">;
}

export function returnStatement(value: Expr | undefined, position: number): Of<"return"> {
  const node = simple("return", position);
  node.value = value;
  return node as Of<"return">;
}

type Jump = Of<"break" | "continue" | "discard" | "demote" | "terminate">;

export function jumpStatement(kind: Jump["kind"], position: number): Jump {
  return simple(kind, position) as Jump;
}

/** Statements that are names, and the extensions that make them statements. */
export const namedJumps: ReadonlyMap<string, { readonly kind: "demote" | "terminate"; readonly extension: string }> =
  new Map([
    ["demote", { kind: "demote", extension: "GL_EXT_demote_to_helper_invocation" }],
    ["terminateInvocation", { kind: "terminate", extension: "GL_EXT_terminate_invocation" }],
  ]);
