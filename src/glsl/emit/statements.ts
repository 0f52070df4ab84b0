import { type Id, LoopControl, Op, SelectionControl, type SpirvTarget } from "../../spirv/index.ts";
import type { DeclareStmt, IfStmt, LoopStmt, Stmt, SwitchStmt } from "../check/index.ts";
import { ExpressionEmitter } from "./expressions.ts";

/** Where `break` and `continue` go, and whether anything went there. */
interface JumpTarget {
  readonly breakTo: Id;
  readonly continueTo: Id | undefined;
  broken: boolean;
}

/** The block behind a selection, and whether anything goes there. */
interface Merge {
  readonly label: Id;
  reached: boolean;
}

const selectionControls = { flatten: SelectionControl.Flatten, dont_flatten: SelectionControl.DontFlatten } as const;
const loopControls = { unroll: LoopControl.Unroll, dont_unroll: LoopControl.DontUnroll } as const;

/** Statements to structured control flow. Code that cannot be reached is left out. */
export abstract class StatementEmitter extends ExpressionEmitter {
  private readonly targets: JumpTarget[] = [];
  /** The function's own `precise`, for what it returns. */
  protected preciseReturn = false;

  protected override startModule(target: SpirvTarget): void {
    super.startModule(target);
    if (this.targets.length > 0) this.targets.length = 0;
  }

  protected statements(list: readonly Stmt[]): void {
    for (let at = 0; at < list.length; at++) {
      if (!this.b.inBlock) return;
      this.statement(list[at]!);
    }
  }

  private statement(stmt: Stmt): void {
    const b = this.b;
    this.linePosition(stmt.position);
    // no place outlives its statement
    this.indexTop = 0;
    switch (stmt.kind) {
      case "declare":
        this.declareStatement(stmt);
        break;
      case "expression":
        this.effect(stmt.expr);
        break;
      case "block":
        this.statements(stmt.body);
        break;
      case "if":
        this.ifStatement(stmt);
        break;
      case "loop":
        this.loopStatement(stmt);
        break;
      case "switch":
        this.switchStatement(stmt);
        break;
      case "break": {
        const target = this.targets[this.targets.length - 1]!;
        target.broken = true;
        b.emit(Op.OpBranch, target.breakTo);
        break;
      }
      case "continue":
        b.emit(Op.OpBranch, this.targets.findLast((target) => target.continueTo !== undefined)!.continueTo!);
        break;
      case "discard":
        b.emit(Op.OpKill);
        break;
      case "demote":
        this.namedCapability("DemoteToHelperInvocation");
        b.emit(Op.OpDemoteToHelperInvocation);
        break;
      case "terminate":
        if (b.version < 0x10600) b.extension("SPV_KHR_terminate_invocation");
        b.emit(Op.OpTerminateInvocation);
        break;
      case "return": {
        if (stmt.value === undefined) {
          b.emit(Op.OpReturn);
          break;
        }
        const outer = this.precise;
        this.precise ||= this.preciseReturn;
        b.emit(Op.OpReturnValue, this.value(stmt.value));
        this.precise = outer;
        break;
      }
    }
  }

  private declareStatement(stmt: DeclareStmt): void {
    const { id } = this.slot(stmt.variable);
    if (stmt.initializer === undefined) return;
    const outer = this.precise;
    this.precise ||= stmt.variable.precise;
    const value = this.value(stmt.initializer);
    this.precise = outer;
    this.b.emit(Op.OpStore, id, value);
  }

  private ifStatement(stmt: IfStmt): void {
    const b = this.b;
    const control = stmt.hint === undefined ? SelectionControl.None : selectionControls[stmt.hint];
    const { arms } = stmt;
    const merges = new Array<Merge>(arms.length);
    for (let at = 0; at < arms.length; at++) {
      const arm = arms[at]!;
      this.linePosition(arm.condition.position);
      const condition = this.value(arm.condition);
      const merge: Merge = { label: b.id(), reached: false };
      merges[at] = merge;
      const yes = b.id();
      const last = at === arms.length - 1 && stmt.otherwise === undefined;
      const no = last ? merge.label : b.id();
      if (last) merge.reached = true;
      b.emit(Op.OpSelectionMerge, merge.label, control);
      b.emit(Op.OpBranchConditional, condition, yes, no);
      this.startBlock(yes);
      this.statements(arm.body);
      this.leave(merge);
      if (!last) this.startBlock(no);
    }
    if (stmt.otherwise !== undefined) this.statements(stmt.otherwise);
    for (let at = merges.length - 1; at >= 0; at--) {
      const merge = merges[at]!;
      this.leave(merge);
      this.join(merge.label, merge.reached);
    }
  }

  private leave(merge: Merge): void {
    if (!this.b.inBlock) return;
    this.b.emit(Op.OpBranch, merge.label);
    merge.reached = true;
  }

  /** Opens a merge block; one that nothing reaches ends at once. */
  private join(label: Id, reached: boolean): void {
    this.startBlock(label);
    if (!reached) this.b.emit(Op.OpUnreachable);
  }

  private loopStatement(stmt: LoopStmt): void {
    const b = this.b;
    const header = b.id();
    const body = b.id();
    const next = b.id();
    const merge = b.id();
    const target: JumpTarget = { breakTo: merge, continueTo: next, broken: false };
    const control = stmt.hint === undefined ? LoopControl.None : loopControls[stmt.hint];
    b.emit(Op.OpBranch, header);
    this.startBlock(header);
    b.emit(Op.OpLoopMerge, merge, next, control);
    const tested = stmt.testFirst && stmt.condition !== undefined;
    const first = tested ? b.id() : body;
    b.emit(Op.OpBranch, first);
    if (tested) {
      this.startBlock(first);
      if (stmt.declare !== undefined) this.declareStatement(stmt.declare);
      this.linePosition(stmt.condition.position);
      b.emit(Op.OpBranchConditional, this.value(stmt.condition), body, merge);
      target.broken = true;
    }
    this.startBlock(body);
    this.targets.push(target);
    this.statements(stmt.body);
    this.targets.pop();
    if (b.inBlock) b.emit(Op.OpBranch, next);
    this.startBlock(next);
    if (!stmt.testFirst && stmt.condition !== undefined) {
      this.linePosition(stmt.condition.position);
      b.emit(Op.OpBranchConditional, this.value(stmt.condition), header, merge);
      target.broken = true;
    } else {
      if (stmt.step !== undefined) {
        this.linePosition(stmt.step.position);
        this.effect(stmt.step);
      }
      b.emit(Op.OpBranch, header);
    }
    this.join(merge, target.broken);
  }

  private switchStatement(stmt: SwitchStmt): void {
    const b = this.b;
    const selector = this.value(stmt.selector);
    const merge = b.id();
    const control = stmt.hint === undefined ? SelectionControl.None : selectionControls[stmt.hint];
    const labels: Id[] = [];
    const operands: number[] = [selector, 0];
    let otherwise = -1;
    for (const { isDefault, values } of stmt.cases) {
      const label = b.id();
      if (isDefault) otherwise = labels.length;
      labels.push(label);
      for (const value of values) operands.push(value >>> 0, label);
    }
    const defaultLabel = otherwise < 0 ? merge : labels[otherwise]!;
    const target: JumpTarget = { breakTo: merge, continueTo: undefined, broken: otherwise < 0 };
    operands[1] = defaultLabel;
    b.emit(Op.OpSelectionMerge, merge, control);
    b.emitWords(Op.OpSwitch, operands);
    this.targets.push(target);
    for (let at = 0; at < stmt.cases.length; at++) {
      const each = stmt.cases[at]!;
      this.startBlock(labels[at]!);
      this.statements(each.body);
      if (!b.inBlock) continue;
      const next = labels[at + 1];
      if (next === undefined) target.broken = true;
      b.emit(Op.OpBranch, next ?? merge);
    }
    this.targets.pop();
    this.join(merge, target.broken);
  }
}
