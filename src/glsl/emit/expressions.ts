import { Bug } from "../../base/index.ts";
import { type Id, Op, type SpirvTarget, StorageClass } from "../../spirv/index.ts";
import type {
  AssignExpr,
  BinaryExpr,
  CallExpr,
  Component,
  ConditionalExpr,
  Expr,
  FunctionSymbol,
  IncrementExpr,
} from "../check/index.ts";
import { rootVariable } from "../check/index.ts";
import {
  boolType,
  containsUnsized,
  coreType,
  elementCount,
  intType,
  scalarOf,
  scalarType,
  uintType,
  withScalar,
} from "../types/index.ts";
import { BuiltinEmitter } from "./builtins.ts";
import type { OpaqueArgument } from "./places.ts";

type VariableExpr = Extract<Expr, { readonly kind: "variable" }>;
export const noOpaque: readonly OpaqueArgument[] = [];

/** Nodes that an operand may have to be computed whether it is wanted or not. */
const CHEAP_LIMIT = 8;
/** Operators of a chain that are walked by calls. */
const CHAIN_DEPTH = 32;

/** Expressions to instructions. */
export abstract class ExpressionEmitter extends BuiltinEmitter {
  /** The function made for arguments of these types (samplers and images; undefined for the other parameters). */
  protected abstract functionId(symbol: FunctionSymbol, opaque: readonly OpaqueArgument[]): Id;
  protected abstract linePosition(position: number): void;

  /** Function variables that hold a constant for dynamic indexing, by the constant's values. */
  protected tables: Map<readonly Component[], Id> | undefined;

  protected override startModule(target: SpirvTarget): void {
    super.startModule(target);
    this.tables = undefined;
    this.precise = false;
  }

  protected override value(expr: Expr): Id {
    if (expr.kind === "constant") {
      if (expr.type.kind === "reference") return this.referenceConstant(expr.type, expr.values[0]!);
      return this.constantId(expr.type, expr.values);
    }
    if (expr.constness === 2) return this.specValue(expr);
    switch (expr.kind) {
      case "variable":
        return this.variableValue(expr);
      case "index":
      case "member":
      case "swizzle":
        return this.isPlace(expr) ? this.loaded(expr) : this.part(expr);
      case "length": {
        if (expr.base.kind !== "member") throw new Bug("length of no member");
        const block = this.pointerOf(this.resolve(expr.base.base));
        const length = this.b.emitResult(Op.OpArrayLength, this.typeId(uintType), block, expr.base.member);
        return this.b.emitResult(Op.OpBitcast, this.typeId(intType), length);
      }
      case "unary":
        return this.unaryValue(expr.op, expr.type, this.value(expr.operand));
      case "binary":
        return this.binaryChain(expr);
      case "convert":
        return this.convertValue(this.value(expr.operand), expr.operand.type, expr.type);
      case "construct":
        return this.constructValue(expr);
      case "call":
        this.linePosition(expr.position);
        return this.call(expr);
      case "builtin":
        return this.builtinValue(expr);
      case "assign":
        return this.assign(expr);
      case "increment":
        return this.increment(expr);
      case "conditional":
        return this.conditional(expr);
      case "comma": {
        let last = 0;
        for (const item of expr.items) last = this.effect(item);
        return last;
      }
      default:
        throw new Bug(`value of ${expr.kind}`);
    }
  }

  /** What a place holds. */
  private loaded(expr: Expr): Id {
    const top = this.indexTop;
    const id = this.load(this.resolve(expr));
    this.indexTop = top;
    return id;
  }

  private variableValue(expr: VariableExpr): Id {
    const { variable } = expr;
    if (this.vulkanMemory || variable.layout !== undefined) return this.loaded(expr);
    const { id, type = variable.type } = this.slot(variable);
    return this.b.emitResult(Op.OpLoad, this.typeId(type), id);
  }

  /** An expression for what it does; the value may be left out. */
  protected effect(expr: Expr): Id {
    const { kind } = expr.type;
    if ((kind !== "array" && kind !== "struct") || !containsUnsized(expr.type)) return this.value(expr);
    // an array without a size has no value: what leads to it may have effects
    let at = expr;
    for (;;) {
      if (at.kind === "index") this.effect(at.index);
      if (at.kind === "deref") this.effect(at.base);
      if (at.kind !== "index" && at.kind !== "member") return 0;
      at = at.base;
    }
  }

  /** A part of a value that is not in memory. */
  private part(expr: Expr): Id {
    switch (expr.kind) {
      case "member":
        return this.extract(this.value(expr.base), expr.type, expr.member);
      case "swizzle":
        return this.shuffle(this.value(expr.base), expr.base.type, expr.components);
      case "index": {
        const { base, index } = expr;
        if (index.kind === "constant") return this.extract(this.value(base), expr.type, Number(index.values[0]));
        if (base.type.kind === "vector") {
          const vector = this.value(base);
          return this.b.emitResult(Op.OpVectorExtractDynamic, this.typeId(expr.type), vector, this.value(index));
        }
        const table = this.table(base);
        const pointer = this.pointerId(StorageClass.Function, this.typeId(expr.type));
        const at = this.b.emitResult(Op.OpAccessChain, pointer, table, this.value(index));
        return this.b.emitResult(Op.OpLoad, this.typeId(expr.type), at);
      }
      default:
        throw new Bug(`part of ${expr.kind}`);
    }
  }

  /** A function variable that holds an array or matrix value, so that it can be indexed. */
  private table(base: Expr): Id {
    if (base.kind !== "constant") {
      const value = this.value(base);
      const variable = this.temporary(base.type, "indexable");
      this.b.emit(Op.OpStore, variable, value);
      return variable;
    }
    this.tables ??= new Map();
    let variable = this.tables.get(base.values);
    if (variable === undefined) {
      const pointer = this.pointerId(StorageClass.Function, this.typeId(base.type));
      variable = this.b.localVariable(pointer, this.constantId(base.type, base.values));
      this.b.name(variable, "indexable");
      this.tables.set(base.values, variable);
    }
    return variable;
  }

  /** Left-deep chains, as deep as the source has them: in a loop where they are deep. */
  private binaryChain(expr: BinaryExpr, depth = 0): Id {
    const { left } = expr;
    if (left.kind !== "binary" || left.constness === 2) return this.binaryStep(expr, this.value(left));
    if (depth < CHAIN_DEPTH) return this.binaryStep(expr, this.binaryChain(left, depth + 1));
    const chain: BinaryExpr[] = [expr];
    let first: Expr = left;
    for (; first.kind === "binary" && first.constness !== 2; first = first.left) chain.push(first);
    let result = this.value(first);
    for (let at = chain.length - 1; at >= 0; at--) result = this.binaryStep(chain[at]!, result);
    return result;
  }

  private binaryStep(node: BinaryExpr, left: Id): Id {
    this.linePosition(node.position);
    if (node.op === "&&" || node.op === "||") return this.shortCircuit(node.op, left, node.right);
    const right = this.value(node.right);
    return this.binaryValue(node.op, node.type, left, node.left.type, right, node.right.type);
  }

  /** The right side runs only where it decides; a cheap one without effects is simply computed. */
  private shortCircuit(op: "&&" | "||", left: Id, right: Expr): Id {
    const b = this.b;
    const type = this.typeId(boolType);
    if (isCheap(right)) {
      const join = op === "&&" ? Op.OpLogicalAnd : Op.OpLogicalOr;
      return b.emitResult(join, type, left, this.value(right));
    }
    const run = b.id();
    const merge = b.id();
    b.emit(Op.OpSelectionMerge, merge, 0);
    const from = this.currentBlock;
    if (op === "&&") b.emit(Op.OpBranchConditional, left, run, merge);
    else b.emit(Op.OpBranchConditional, left, merge, run);
    this.startBlock(run);
    const value = this.value(right);
    const end = this.currentBlock;
    b.emit(Op.OpBranch, merge);
    this.startBlock(merge);
    return b.emitResult(Op.OpPhi, type, b.constBool(op === "||"), from, value, end);
  }

  /** Label of the open block, for phis. */
  protected currentBlock: Id = 0;

  protected startBlock(label: Id): void {
    this.b.label(label);
    this.currentBlock = label;
  }

  private conditional(expr: ConditionalExpr): Id {
    const b = this.b;
    const condition = this.value(expr.condition);
    const type = this.typeId(expr.type);
    const isVoid = expr.type.kind === "void";
    const scalar = scalarOf(expr.type) !== undefined && expr.type.kind !== "matrix";
    if (scalar && isCheap(expr.yes) && isCheap(expr.no)) {
      const yes = this.value(expr.yes);
      const no = this.value(expr.no);
      // before 1.4 the condition of a vector selection is a vector
      const vector = expr.type.kind === "vector" && b.version < 0x10400;
      const chosen = vector ? this.splat(condition, withScalar(expr.type, "bool")) : condition;
      return b.emitResult(Op.OpSelect, type, chosen, yes, no);
    }
    const yesLabel = b.id();
    const noLabel = b.id();
    const merge = b.id();
    b.emit(Op.OpSelectionMerge, merge, 0);
    b.emit(Op.OpBranchConditional, condition, yesLabel, noLabel);
    this.startBlock(yesLabel);
    const yes = this.value(expr.yes);
    const yesEnd = this.currentBlock;
    b.emit(Op.OpBranch, merge);
    this.startBlock(noLabel);
    const no = this.value(expr.no);
    const noEnd = this.currentBlock;
    b.emit(Op.OpBranch, merge);
    this.startBlock(merge);
    return isVoid ? 0 : b.emitResult(Op.OpPhi, type, yes, yesEnd, no, noEnd);
  }

  private assign(expr: AssignExpr): Id {
    const { op, target, type } = expr;
    const outer = this.precise;
    this.precise ||= rootVariable(target)?.precise === true;
    let value: Id;
    if (target.kind === "variable" && op === undefined && !this.vulkanMemory && target.variable.layout === undefined) {
      const { id } = this.slot(target.variable);
      value = this.value(expr.value);
      this.linePosition(expr.position);
      this.b.emit(Op.OpStore, id, value);
      this.precise = outer;
      return value;
    }
    const place = this.resolve(target);
    if (op === undefined) {
      value = this.value(expr.value);
    } else {
      const before = this.load(place);
      const right = this.value(expr.value);
      value = this.binaryValue(op, type, before, type, right, expr.value.type);
    }
    this.linePosition(expr.position);
    this.store(place, value);
    this.precise = outer;
    return value;
  }

  private increment(expr: IncrementExpr): Id {
    const { target, type, op, prefix } = expr;
    const place = this.resolve(target);
    const before = this.load(place);
    const step = type.kind === "reference" ? scalarType("int64") : type;
    const one = this.filledConstant(step, 1);
    const after = this.binaryValue(op, type, before, type, one, step);
    this.store(place, after);
    return prefix ? after : before;
  }

  private call(expr: CallExpr): Id {
    const { callee, args } = expr;
    if (takesValuesOnly(callee)) {
      const values = new Array<Id>(args.length + 1);
      for (let at = 0; at < args.length; at++) values[at + 1] = this.value(args[at]!);
      const result = this.typeId(expr.type);
      values[0] = this.functionId(callee, noOpaque);
      return this.b.emitResultWords(Op.OpFunctionCall, result, values);
    }
    const after: (() => void)[] = [];
    const opaque: OpaqueArgument[] = [];
    const ids = args.map((arg, at) => {
      const parameter = callee.parameters[at]!;
      if (coreType(parameter.type).kind === "opaque") {
        const place = this.resolve(arg);
        opaque[at] = place.type;
        return this.pointerOf(place);
      }
      if (parameter.mode === "in") return this.value(arg);
      const place = this.resolve(arg);
      const temporary = this.temporary(parameter.type, "param");
      if (parameter.mode === "inout") this.b.emit(Op.OpStore, temporary, this.load(place));
      after.push(() => {
        const value = this.b.emitResult(Op.OpLoad, this.typeId(parameter.type), temporary);
        this.storeConverted(place, arg.type, value, parameter.type);
      });
      return temporary;
    });
    const type = this.typeId(expr.type);
    const fn = this.functionId(callee, opaque);
    const result = this.b.emitResultWords(Op.OpFunctionCall, type, [fn, ...ids]);
    for (const copyBack of after) copyBack();
    return result;
  }
}

/** Whether all parameters are passed by value. */
function takesValuesOnly({ parameters }: FunctionSymbol): boolean {
  for (let at = 0; at < parameters.length; at++) {
    const { type, mode } = parameters[at]!;
    if (mode !== "in" || coreType(type).kind === "opaque") return false;
  }
  return true;
}

/** No effects, no memory beyond variables of the invocation, few nodes: fit to be computed without need. */
function isCheap(expr: Expr): boolean {
  return cost(expr, CHEAP_LIMIT) <= CHEAP_LIMIT;
}

function cost(expr: Expr, limit: number): number {
  if (limit < 0) return 1;
  switch (expr.kind) {
    case "constant":
      return 0;
    case "variable": {
      const { storage } = expr.variable;
      const near = storage === "local" || storage === "parameter" || storage === "global" || storage === "in";
      const small = scalarOf(expr.type) !== undefined && expr.type.kind !== "matrix";
      return expr.constness === 2 || (near && small) ? 1 : Number.POSITIVE_INFINITY;
    }
    case "swizzle":
    case "unary":
    case "convert":
    case "member":
      return 1 + cost(expr.kind === "swizzle" || expr.kind === "member" ? expr.base : expr.operand, limit - 1);
    case "binary": {
      const scalar = scalarOf(expr.left.type);
      const divides = (expr.op === "/" || expr.op === "%") && (scalar === "int" || scalar === "uint");
      const small = expr.left.type.kind === "scalar" || expr.left.type.kind === "vector";
      if (divides || !small || expr.right.type.kind === "matrix") return Number.POSITIVE_INFINITY;
      const left = 1 + cost(expr.left, limit - 1);
      return left > limit ? left : left + cost(expr.right, limit - left);
    }
    case "index":
      if (expr.index.kind !== "constant" || elementCount(expr.base.type) === undefined) return Number.POSITIVE_INFINITY;
      return 1 + cost(expr.base, limit - 1);
    default:
      return Number.POSITIVE_INFINITY;
  }
}
