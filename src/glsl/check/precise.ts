import { rootVariable } from "./lvalues.ts";
import type { Expr, FunctionSymbol, Stmt, Variable } from "./tree.ts";

/**
 * Spreads `precise` from what is declared so to the variables that its value is computed from, within each function.
 * `precise float t; u = a * b; t = u + c;` makes `u` precise. Source: GLSL 4.60 section 4.7.7. Linear in the tree.
 */
export function spreadPrecise(functions: Iterable<FunctionSymbol>): void {
  for (const symbol of functions) {
    const sources = new Map<Variable, Expr[]>();
    const precise: Variable[] = [];
    const returned: Expr[] = [];
    visitStatements(symbol.body ?? [], sources, returned);
    for (const variable of sources.keys()) if (variable.precise) precise.push(variable);
    const mark = (expr: Expr): void => {
      for (const variable of variablesIn(expr)) {
        if (variable.precise || !ofInvocation.has(variable.storage)) continue;
        variable.precise = true;
        precise.push(variable);
      }
    };
    if (symbol.precise) for (const expr of returned) mark(expr);
    for (let variable = precise.pop(); variable !== undefined; variable = precise.pop()) {
      for (const expr of sources.get(variable) ?? []) mark(expr);
    }
  }
}

/** Where a value is the invocation's own; what memory holds was computed by whoever wrote it. */
const ofInvocation: ReadonlySet<string> = new Set(["local", "parameter", "global", "out"]);

type Sources = Map<Variable, Expr[]>;

function add(sources: Sources, variable: Variable | undefined, value: Expr): void {
  if (variable === undefined) return;
  const list = sources.get(variable);
  if (list === undefined) sources.set(variable, [value]);
  else list.push(value);
}

function visitStatements(list: readonly Stmt[], sources: Sources, returned: Expr[]): void {
  for (const stmt of list) {
    switch (stmt.kind) {
      case "declare":
        if (stmt.initializer === undefined) break;
        add(sources, stmt.variable, stmt.initializer);
        visitExpr(stmt.initializer, sources);
        break;
      case "expression":
        visitExpr(stmt.expr, sources);
        break;
      case "block":
        visitStatements(stmt.body, sources, returned);
        break;
      case "if":
        for (const arm of stmt.arms) {
          visitExpr(arm.condition, sources);
          visitStatements(arm.body, sources, returned);
        }
        visitStatements(stmt.otherwise ?? [], sources, returned);
        break;
      case "loop":
        if (stmt.declare !== undefined) visitStatements([stmt.declare], sources, returned);
        if (stmt.condition !== undefined) visitExpr(stmt.condition, sources);
        if (stmt.step !== undefined) visitExpr(stmt.step, sources);
        visitStatements(stmt.body, sources, returned);
        break;
      case "switch":
        visitExpr(stmt.selector, sources);
        for (const each of stmt.cases) visitStatements(each.body, sources, returned);
        break;
      case "return":
        if (stmt.value === undefined) break;
        returned.push(stmt.value);
        visitExpr(stmt.value, sources);
        break;
      default:
        break;
    }
  }
}

function visitExpr(root: Expr, sources: Sources): void {
  walk(root, (expr) => {
    if (expr.kind === "assign") add(sources, rootVariable(expr.target), expr.value);
    else if (expr.kind === "increment") add(sources, rootVariable(expr.target), expr.target);
  });
}

function variablesIn(root: Expr): Set<Variable> {
  const found = new Set<Variable>();
  walk(root, (expr) => {
    if (expr.kind === "variable") found.add(expr.variable);
  });
  return found;
}

/** Every node once, parents first, with a stack of its own: chains may be long. */
function walk(root: Expr, visit: (expr: Expr) => void): void {
  const stack = [root];
  for (let expr = stack.pop(); expr !== undefined; expr = stack.pop()) {
    visit(expr);
    switch (expr.kind) {
      case "index":
        stack.push(expr.base, expr.index);
        break;
      case "member":
      case "swizzle":
      case "length":
      case "deref":
        stack.push(expr.base);
        break;
      case "unary":
      case "convert":
        stack.push(expr.operand);
        break;
      case "binary":
        stack.push(expr.left, expr.right);
        break;
      case "construct":
      case "call":
      case "builtin":
        stack.push(...expr.args);
        break;
      case "assign":
        stack.push(expr.target, expr.value);
        break;
      case "increment":
        stack.push(expr.target);
        break;
      case "conditional":
        stack.push(expr.condition, expr.yes, expr.no);
        break;
      case "comma":
        stack.push(...expr.items);
        break;
      default:
        break;
    }
  }
}
