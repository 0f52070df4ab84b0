import { Lists } from "../lists.ts";
import type * as ast from "../syntax/index.ts";
import { boolType, type Type, typeName, voidType } from "../types/index.ts";
import type { CheckContext } from "./base.ts";
import { DeclarationChecker } from "./declarations.ts";
import { variableNode } from "./nodes.ts";
import { Scopes } from "./scope.ts";
import { blockStatement, expressionStatement, jumpStatement, namedJumps, returnStatement } from "./statement-nodes.ts";
import type {
  DeclareStmt,
  Expr,
  FunctionSymbol,
  IfStmt,
  LoopHint,
  LoopStmt,
  SelectionHint,
  Stmt,
  SwitchCase,
  SwitchStmt,
} from "./tree.ts";

/** Attributes of selections and loops. Source: GL_EXT_control_flow_attributes. */
const known: ReadonlySet<string> = new Set(
  `flatten dont_flatten branch unroll dont_unroll loop dependency_infinite dependency_length min_iterations
   max_iterations iteration_multiple peel_count partial_count`.split(/\s+/),
);

/** What jumps may do at a place. */
interface Flow {
  readonly loop: boolean;
  readonly breakable: boolean;
}

const outside: Flow = { loop: false, breakable: false };
const inLoop: Flow = { loop: true, breakable: true };
const noNames: readonly string[] = [];
const selectionHints: readonly string[] = ["flatten", "dont_flatten"];
const loopHints: readonly string[] = ["unroll", "dont_unroll"];
const ignoredHints: readonly string[] = [
  ...["dependency_infinite", "dependency_length", "min_iterations", "max_iterations"],
  ...["iteration_multiple", "peel_count", "partial_count"],
];

/** Statements. Source: GLSL 4.60 chapter 6. */
export abstract class StatementChecker extends DeclarationChecker {
  protected override readonly scopes = new Scopes();
  protected override currentFunction: FunctionSymbol | undefined;

  protected sawReturn = false;
  /** Statements on their way into the bodies that they stand in. */
  private readonly lists = new Lists();

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.scopes.clear();
    this.lists.clear();
    this.currentFunction = undefined;
    this.sawReturn = false;
  }

  /** A function's body, in the scope that holds its parameters. */
  protected functionBody(body: ast.CompoundStmt): readonly Stmt[] {
    return this.bodyOf(body, outside);
  }

  /** The statements of a body whose scope is open. */
  private bodyOf(stmt: ast.Stmt, flow: Flow): readonly Stmt[] {
    const first = this.lists.top;
    if (stmt.kind !== "compound") {
      this.statement(stmt, flow);
    } else {
      const { body } = stmt;
      for (let at = 0; at < body.length && !this.diagnostics.full; at++) this.statement(body[at]!, flow);
    }
    return this.lists.end<Stmt>(first);
  }

  /** A statement in a scope of its own. */
  private scoped(stmt: ast.Stmt, flow: Flow): readonly Stmt[] {
    this.scopes.push();
    const body = this.bodyOf(stmt, flow);
    this.scopes.pop();
    return body;
  }

  /** Checks a statement and adds what it becomes to the list: nothing, or as many statements as it declares variables. */
  private statement(stmt: ast.Stmt, flow: Flow): void {
    const { position } = stmt;
    switch (stmt.kind) {
      case "compound":
        this.lists.add(blockStatement(this.scoped(stmt, flow), position));
        break;
      case "declaration":
        this.localDeclaration(stmt.decl);
        break;
      case "expression":
        if (!this.namedJump(stmt.expr)) this.lists.add(expressionStatement(this.place(stmt.expr), position));
        break;
      case "if": {
        const hint = this.selectionHint(stmt.attributes);
        const first = this.lists.top;
        for (const arm of stmt.arms) {
          const condition = this.conditionValue(arm.condition);
          this.lists.add({ condition, body: this.scoped(arm.body, flow) });
        }
        const arms = this.lists.end<IfStmt["arms"][number]>(first);
        const otherwise = stmt.otherwise === undefined ? undefined : this.scoped(stmt.otherwise, flow);
        this.lists.add({ kind: "if", arms, otherwise, hint, position });
        break;
      }
      case "for": {
        // no method of its own: what nests in each other should take few frames of the stack
        const first = this.lists.top;
        this.scopes.push();
        if (stmt.init !== undefined) this.statement(stmt.init, outside);
        const loop = this.loop(stmt, stmt.condition, stmt.step, true);
        this.scopes.pop();
        const declares = this.lists.top > first;
        this.lists.add(loop);
        if (declares) this.lists.add(blockStatement(this.lists.end<Stmt>(first), position));
        break;
      }
      case "while":
        this.scopes.push();
        this.lists.add(this.loop(stmt, stmt.condition, undefined, true));
        this.scopes.pop();
        break;
      case "do": {
        const hint = this.loopHint(stmt.attributes);
        const body = this.scoped(stmt.body, inLoop);
        const condition = this.conditionValue(stmt.condition);
        this.lists.add({
          kind: "loop",
          declare: undefined,
          condition,
          step: undefined,
          body,
          testFirst: false,
          hint,
          position,
        });
        break;
      }
      case "switch":
        this.lists.add(this.switchStatement(stmt, flow));
        break;
      case "case":
        this.diagnostics.error("GLSL_STRAY_CASE", {}, position, stmt.end);
        break;
      case "break":
        if (!flow.breakable) this.diagnostics.error("GLSL_STRAY_JUMP", { jump: "break" }, position, stmt.end);
        this.lists.add(jumpStatement("break", position));
        break;
      case "continue":
        if (!flow.loop) this.diagnostics.error("GLSL_STRAY_JUMP", { jump: "continue" }, position, stmt.end);
        this.lists.add(jumpStatement("continue", position));
        break;
      case "discard":
        if (this.context.stage !== "fragment") {
          this.diagnostics.error("GLSL_WRONG_STAGE", { name: "discard", stage: "fragment" }, position, stmt.end);
        }
        this.lists.add(jumpStatement("discard", position));
        break;
      case "return":
        this.lists.add(returnStatement(this.returnValue(stmt), position));
        break;
      case "empty":
        break;
    }
  }

  /** `demote;` and `terminateInvocation;`: names that their extensions make statements. */
  private namedJump(expr: ast.Expr): boolean {
    if (expr.kind !== "name") return false;
    const { position, end } = expr;
    const jump = namedJumps.get(expr.name);
    if (jump === undefined || !this.context.extensions.has(jump.extension)) return false;
    this.noteExtension(`'${expr.name}'`, [jump.extension], expr);
    if (this.context.stage !== "fragment") {
      this.diagnostics.error("GLSL_WRONG_STAGE", { name: expr.name, stage: "fragment" }, position, end);
    }
    this.lists.add(jumpStatement(jump.kind, position));
    return true;
  }

  private localDeclaration(decl: ast.DeclStmt["decl"]): void {
    switch (decl.kind) {
      case "variables":
        this.variables(decl, this.lists);
        break;
      case "qualifiers":
        this.qualifierDecl(decl);
        break;
      case "function":
        this.localFunction(decl);
        break;
      case "precision":
        this.precisionDecl(decl);
        break;
    }
  }

  protected abstract localFunction(decl: ast.FunctionDecl): void;

  private loop(
    stmt: ast.ForStmt | ast.WhileStmt,
    test: ast.Condition | undefined,
    advance: ast.Expr | undefined,
    testFirst: boolean,
  ): LoopStmt {
    const hint = this.loopHint(stmt.attributes);
    let declare: DeclareStmt | undefined;
    let condition: Expr | undefined;
    if (test?.kind === "variables") {
      const first = this.lists.top;
      declare = this.variables(test, this.lists);
      // it belongs to the loop, not to what is around it
      this.lists.top = first;
      const place = { position: test.position, end: test.end };
      const type = declare?.variable.type;
      if (type !== undefined && type !== boolType && type.kind !== "error") {
        this.diagnostics.error("GLSL_CONDITION_TYPE", { type: typeName(type) }, place.position, place.end);
      }
      if (declare !== undefined) {
        condition = variableNode(declare.variable, boolType, 0, place);
      }
    } else if (test !== undefined) {
      condition = this.conditionValue(test);
    }
    const step = advance === undefined ? undefined : this.place(advance);
    // the body shares the scope of the loop's own declarations
    const body = this.bodyOf(stmt.body, inLoop);
    return { kind: "loop", declare, condition, step, body, testFirst, hint, position: stmt.position };
  }

  private switchStatement(stmt: ast.SwitchStmt, flow: Flow): SwitchStmt {
    const hint = this.selectionHint(stmt.attributes);
    const selector = this.value(stmt.selector);
    const scalar = selector.type.kind === "scalar" ? selector.type.scalar : undefined;
    const valid = scalar === "int" || scalar === "uint";
    if (!valid && selector.type.kind !== "error") {
      const values = { type: typeName(selector.type) };
      this.diagnostics.error("GLSL_SWITCH_TYPE", values, stmt.selector.position, stmt.selector.end);
    }
    const inner: Flow = { loop: flow.loop, breakable: true };
    const cases: { values: number[]; isDefault: boolean; body: readonly Stmt[] }[] = [];
    // statements of the case that is open
    const first = this.lists.top;
    const seen = new Map<number, ast.CaseStmt>();
    let defaultPlace: ast.CaseStmt | undefined;
    this.scopes.push();
    for (const [at, each] of stmt.body.entries()) {
      const { position, end } = each;
      if (each.kind !== "case") {
        const open = cases.at(-1);
        if (open === undefined) this.diagnostics.error("GLSL_BEFORE_CASE", {}, position, end);
        this.statement(each, inner);
        if (open === undefined) this.lists.top = first;
        continue;
      }
      if (at === stmt.body.length - 1) {
        const { es, number } = this.context.version;
        if (es && number !== 310) this.diagnostics.error("GLSL_CASE_AT_END", {}, position, end);
        else this.diagnostics.warn("GLSL_CASE_AT_END", {}, position, end);
      }
      let label = cases.at(-1);
      if (label !== undefined) label.body = this.lists.end<Stmt>(first);
      if (label === undefined || label.body.length > 0) {
        label = { values: [], isDefault: false, body: [] };
        cases.push(label);
      }
      if (each.value === undefined) {
        if (defaultPlace !== undefined) this.repeatedLabel("default", each, defaultPlace);
        defaultPlace = each;
        label.isDefault = true;
        continue;
      }
      const value = this.caseValue(each.value, selector.type);
      if (value === undefined) continue;
      const previous = seen.get(value);
      if (previous !== undefined) this.repeatedLabel(`case ${value}`, each, previous);
      else label.values.push(value);
      seen.set(value, each);
    }
    const last = cases.at(-1);
    if (last !== undefined) last.body = this.lists.end<Stmt>(first);
    this.scopes.pop();
    const kept: readonly SwitchCase[] = cases;
    return { kind: "switch", selector, cases: kept, hint, position: stmt.position };
  }

  private repeatedLabel(label: string, place: ast.CaseStmt, first: ast.CaseStmt): void {
    const notes = [{ message: "first one", position: first.position, end: first.end }];
    this.diagnostics.error("GLSL_REPEATED_LABEL", { label }, place.position, place.end, notes);
  }

  private caseValue(expr: ast.Expr, type: Type): number | undefined {
    const value = this.value(expr);
    if (value.type.kind === "error" || type.kind !== "scalar") return undefined;
    const scalar = value.type.kind === "scalar" ? value.type.scalar : undefined;
    if (value.kind !== "constant" || (scalar !== "int" && scalar !== "uint")) {
      this.diagnostics.error("GLSL_NOT_CONSTANT_INTEGER", {}, expr.position, expr.end);
      return undefined;
    }
    // int and uint convert both ways here: whichever is int becomes uint, and the bits are the same
    if (scalar !== type.scalar && this.context.version.es) {
      const values = { from: typeName(value.type), to: typeName(type) };
      this.diagnostics.error("GLSL_BAD_CONVERSION", values, expr.position, expr.end);
      return undefined;
    }
    return Number(value.values[0]) | 0;
  }

  private returnValue(stmt: ast.ReturnStmt): Expr | undefined {
    const returns = this.currentFunction?.returns ?? voidType;
    const { position, end } = stmt;
    this.sawReturn = true;
    if (stmt.value === undefined) {
      if (returns.kind !== "void" && returns.kind !== "error") {
        this.diagnostics.error("GLSL_RETURN_MISSING", { type: typeName(returns) }, position, end);
      }
      return undefined;
    }
    const value = this.value(stmt.value);
    if (returns.kind === "void") {
      if (value.type.kind !== "error") this.diagnostics.error("GLSL_RETURN_VALUE", {}, value.position, value.end);
      return undefined;
    }
    if (value.type.kind === "error") return value;
    const { version } = this.context;
    if (!version.es && version.number < 420 && (this.conversionRank(value.type, returns) ?? 0) > 0) {
      const values = { from: typeName(value.type), to: typeName(returns) };
      this.diagnostics.warn("GLSL_RETURN_CONVERSION", values, value.position, value.end);
    }
    return this.coerce(value, returns);
  }

  private selectionHint(attributes: readonly ast.Attribute[]): SelectionHint {
    return this.attributes(attributes, selectionHints, noNames) as SelectionHint;
  }

  private loopHint(attributes: readonly ast.Attribute[]): LoopHint {
    return this.attributes(attributes, loopHints, ignoredHints) as LoopHint;
  }

  private attributes(
    attributes: readonly ast.Attribute[],
    names: readonly string[],
    ignored: readonly string[],
  ): string | undefined {
    let result: string | undefined;
    for (const { name, value, position, end } of attributes) {
      this.needExtension("an attribute", "GL_EXT_control_flow_attributes", { position, end });
      const counted = ignored.includes(name);
      if (value !== undefined && counted) this.constantInteger(value);
      else if (value !== undefined) this.value(value);
      if (names.includes(name)) result = name;
      else if (name === "branch" || name === "loop") result = name === "loop" ? "dont_unroll" : "dont_flatten";
      if (!known.has(name) || counted !== (value !== undefined && name !== "dependency_infinite"))
        this.diagnostics.warn("GLSL_UNKNOWN_ATTRIBUTE", { name }, position, end);
    }
    return result;
  }
}
