import type { Expr, Variable } from "./tree.ts";

/** The variable that an access chain starts from, if it is one. */
export function rootVariable(expr: Expr): Variable | undefined {
  let at = expr;
  for (;;) {
    switch (at.kind) {
      case "variable":
        return at.variable;
      case "index":
      case "member":
      case "swizzle":
        at = at.base;
        break;
      default:
        return undefined;
    }
  }
}

/** Whether an access chain starts from a reference. */
export function throughReference(expr: Expr): boolean {
  let at = expr;
  while (at.kind === "index" || at.kind === "member" || at.kind === "swizzle") at = at.base;
  return at.kind === "deref";
}

/** Why the expression cannot be assigned, as the tail of a message; undefined where it can. */
export function assignProblem(expr: Expr): string | undefined {
  switch (expr.kind) {
    case "error":
    case "deref":
      return undefined;
    case "variable":
      return variableProblem(expr.variable);
    case "index":
      return assignProblem(expr.base);
    case "member": {
      const type = expr.base.type;
      const member = type.kind === "struct" ? type.members[expr.member] : undefined;
      if (member?.memory.includes("readonly")) return `'${member.name}' is readonly`;
      return assignProblem(expr.base);
    }
    case "swizzle":
      if (hasTwice(expr.components)) return "the swizzle names a component twice";
      return assignProblem(expr.base);
    case "constant":
      return "a constant is no variable";
    default:
      return "the expression is no variable";
  }
}

function hasTwice(components: readonly number[]): boolean {
  for (let at = 1; at < components.length; at++) if (components.indexOf(components[at]!) < at) return true;
  return false;
}

function variableProblem(variable: Variable): string | undefined {
  const { name, storage } = variable;
  if (variable.memory?.includes("readonly")) return `'${name}' is readonly`;
  switch (storage) {
    case "in":
      return `'${name}' is an input`;
    case "uniform":
    case "pushConstant":
      return `'${name}' is uniform`;
    default:
      return variable.constant ? `'${name}' is constant` : undefined;
  }
}

/** The writeonly thing that reading the access chain would read, if any. */
export function unreadable(expr: Expr): string | undefined {
  let at = expr;
  for (;;) {
    switch (at.kind) {
      case "variable":
        // the reference lets the members of a block without an instance name be read
        if (at.variable.type.kind === "struct" && at.variable.type.name === at.variable.name) return undefined;
        return at.variable.memory?.includes("writeonly") ? at.variable.name : undefined;
      case "member": {
        const type = at.base.type;
        const member = type.kind === "struct" ? type.members[at.member] : undefined;
        if (member?.memory.includes("writeonly")) return member.name;
        at = at.base;
        break;
      }
      case "index":
      case "swizzle":
        at = at.base;
        break;
      default:
        return undefined;
    }
  }
}
