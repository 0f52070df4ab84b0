import { Bug } from "../../base/index.ts";
import {
  Capability,
  GlslStd450,
  GroupOperation,
  type Id,
  MemorySemantics,
  Op,
  opcodeByName,
  Scope,
  StorageClass,
} from "../../spirv/index.ts";
import type { Overload } from "../builtins/index.ts";
import type { BuiltinExpr, Expr } from "../check/index.ts";
import {
  numberOf,
  type ScalarKind,
  scalarFacts,
  scalarOf,
  scalarType,
  type Type,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { constantNumber, ImageEmitter, isImageLowering } from "./images.ts";
import type { Place } from "./places.ts";

/** `DebugPrintf` of the set NonSemantic.DebugPrintf. */
const DEBUG_PRINTF = 1;

/** Derivatives that say how exact they want to be. */
const controlledDerivatives: ReadonlySet<number> = new Set<number>([
  Op.OpDPdxFine,
  Op.OpDPdyFine,
  Op.OpFwidthFine,
  Op.OpDPdxCoarse,
  Op.OpDPdyCoarse,
  Op.OpFwidthCoarse,
]);
const derivatives: ReadonlySet<number> = new Set<number>([Op.OpDPdx, Op.OpDPdy, Op.OpFwidth, ...controlledDerivatives]);

const { AcquireRelease, UniformMemory, WorkgroupMemory, ImageMemory } = MemorySemantics;
const allMemory = AcquireRelease | UniformMemory | WorkgroupMemory | ImageMemory;

/** Memory barriers: scope and semantics. Source: GLSL 4.60 section 8.17, SPIR-V memory semantics. */
const memoryBarriers: Readonly<Record<string, readonly [number, number]>> = {
  memoryBarrier: [Scope.Device, allMemory],
  memoryBarrierBuffer: [Scope.Device, AcquireRelease | UniformMemory],
  memoryBarrierImage: [Scope.Device, AcquireRelease | ImageMemory],
  memoryBarrierShared: [Scope.Device, AcquireRelease | WorkgroupMemory],
  groupMemoryBarrier: [Scope.Workgroup, allMemory],
  subgroupMemoryBarrier: [Scope.Subgroup, allMemory],
  subgroupMemoryBarrierBuffer: [Scope.Subgroup, AcquireRelease | UniformMemory],
  subgroupMemoryBarrierShared: [Scope.Subgroup, AcquireRelease | WorkgroupMemory],
  subgroupMemoryBarrierImage: [Scope.Subgroup, AcquireRelease | ImageMemory],
};

const subgroupCapabilities: Readonly<Record<string, number>> = {
  basic: Capability.GroupNonUniform,
  vote: Capability.GroupNonUniformVote,
  arithmetic: Capability.GroupNonUniformArithmetic,
  ballot: Capability.GroupNonUniformBallot,
  shuffle: Capability.GroupNonUniformShuffle,
  shuffle_relative: Capability.GroupNonUniformShuffleRelative,
  clustered: Capability.GroupNonUniformClustered,
  quad: Capability.GroupNonUniformQuad,
};

/** What a row of a subgroup function says. */
interface SubgroupFacts {
  readonly capability: number;
  /** The group operation, or a quad swap's direction. */
  readonly operation: number | undefined;
  readonly isSwap: boolean;
}

/** By row: there are as many as rows. */
const subgroupFacts = new Map<Overload, SubgroupFacts>();
const operations: Readonly<Record<string, number>> = GroupOperation;

function subgroupFactsOf(overload: Overload): SubgroupFacts {
  let facts = subgroupFacts.get(overload);
  if (facts === undefined) {
    const [name, word] = overload.instruction.split("_");
    const family = /subgroup_(\w+)/.exec(overload.extensions[0] ?? "")?.[1] ?? "basic";
    const isSwap = name === "QuadSwap";
    const operation = word === undefined ? undefined : isSwap ? Number(word) : operations[word];
    facts = { capability: subgroupCapabilities[family]!, operation, isSwap };
    subgroupFacts.set(overload, facts);
  }
  return facts;
}

/** Calls of built-in functions, by the lowering of their row. */
export abstract class BuiltinEmitter extends ImageEmitter {
  protected builtinValue(expr: BuiltinExpr): Id {
    const { overload, args, type } = expr;
    switch (overload.lowering) {
      case "ext":
        return this.b.extInst(this.typeId(type), overload.opcode, this.operands(expr));
      case "op":
        if (derivatives.has(overload.opcode)) return this.derivative(expr);
        return this.arithmeticWords(overload.opcode, type, this.operands(expr));
      case "atomic": {
        const [pointer, scope, access] = this.atomicPointer(args[0]!);
        if (scalarFacts[scalarOf(type) ?? "int"].bits === 64) this.b.capability(Capability.Int64Atomics);
        const value = this.value(args[1]!);
        const order = this.memoryOrder(access, args, 2) ?? [scope, this.semantics(access, 0)];
        return this.b.emitResult(overload.opcode, this.typeId(type), pointer, order[0], order[1], value);
      }
      case "atomicLoad": {
        const [pointer, , access] = this.atomicPointer(args[0]!);
        if (scalarFacts[scalarOf(type) ?? "int"].bits === 64) this.b.capability(Capability.Int64Atomics);
        const order = this.memoryOrder(access, args, 1)!;
        return this.b.emitResultWords(Op.OpAtomicLoad, this.typeId(type), [pointer, ...order]);
      }
      case "atomicStore": {
        const [pointer, , access] = this.atomicPointer(args[0]!);
        const value = this.value(args[1]!);
        if (scalarFacts[scalarOf(args[1]!.type) ?? "int"].bits === 64) this.b.capability(Capability.Int64Atomics);
        this.b.emitWords(Op.OpAtomicStore, [pointer, ...this.memoryOrder(access, args, 2)!, value]);
        return 0;
      }
      case "controlBarrier": {
        const [scope, semantics] = this.memoryOrder(0, args, 1)!;
        this.b.emit(Op.OpControlBarrier, this.b.constUint(constantNumber(args[0]!)), scope, semantics);
        return 0;
      }
      case "scopedBarrier":
        this.b.emitWords(Op.OpMemoryBarrier, this.memoryOrder(0, args, 0)!);
        return 0;
      case "vote": {
        const [condition] = this.operands(expr);
        if (this.b.version >= 0x10300) {
          this.b.capability(Capability.GroupNonUniformVote);
          const scope = this.b.constUint(Scope.Subgroup);
          return this.b.emitResult(
            opcodeByName(`OpGroupNonUniform${overload.instruction}`)!,
            this.typeId(type),
            scope,
            condition!,
          );
        }
        this.b.capability(Capability.SubgroupVoteKHR);
        this.b.extension("SPV_KHR_subgroup_vote");
        return this.b.emitResult(opcodeByName(`OpSubgroup${overload.instruction}KHR`)!, this.typeId(type), condition!);
      }
      case "compareExchange": {
        const [pointer, scope, access] = this.atomicPointer(args[0]!);
        if (scalarFacts[scalarOf(type) ?? "int"].bits === 64) this.b.capability(Capability.Int64Atomics);
        const compare = this.value(args[1]!);
        const value = this.value(args[2]!);
        const order = this.memoryOrder(access, args, 3) ?? [scope, this.semantics(access, 0)];
        const unequal = this.memoryOrder(access, args, 5, 3) ?? order;
        const operands = [pointer, ...order, unequal[1], value, compare];
        return this.b.emitResultWords(Op.OpAtomicCompareExchange, this.typeId(type), operands);
      }
      case "select": {
        const [no, yes, condition] = this.operands(expr);
        return this.b.emitResult(Op.OpSelect, this.typeId(type), condition!, yes!, no!);
      }
      case "matrixCompMult": {
        const [left, right] = this.operands(expr);
        if (type.kind !== "matrix") throw new Bug("matrixCompMult of no matrix");
        const column = vectorType(type.scalar, type.rows);
        return this.byColumn(type, (at) =>
          this.arithmetic(Op.OpFMul, column, this.extract(left!, column, at), this.extract(right!, column, at)),
        );
      }
      case "modf":
        return this.pair(expr, type, args[1]!.type, (struct, operands) =>
          this.b.extInst(struct, GlslStd450.ModfStruct, operands),
        );
      case "frexp": {
        // the instruction's exponents have 32 bits, whatever the function's have
        const exponent = type.kind === "vector" ? vectorType("int", type.size) : scalarType("int");
        return this.pair(expr, type, exponent, (struct, operands) =>
          this.b.extInst(struct, GlslStd450.FrexpStruct, operands),
        );
      }
      case "refract": {
        // the instruction takes a ratio of 32 bits only
        const [incident, normal, ratio] = this.operands(expr);
        const float = scalarType("float");
        const eta = this.convertValue(ratio!, scalarType("double"), float);
        return this.b.extInst(this.typeId(type), GlslStd450.Refract, [incident!, normal!, eta]);
      }
      case "subgroup":
        return this.subgroup(expr);
      case "subgroupBarrier": {
        this.b.capability(Capability.GroupNonUniform);
        const scope = this.b.constUint(Scope.Subgroup);
        this.b.emit(Op.OpControlBarrier, scope, scope, this.b.constUint(allMemory));
        return 0;
      }
      case "debugPrint": {
        const [format, ...values] = args;
        if (format?.kind !== "text") throw new Bug("a print without a format");
        if (this.b.version < 0x10600) this.b.extension("SPV_KHR_non_semantic_info");
        const set = this.b.extInstImport("NonSemantic.DebugPrintf");
        const operands = [set, DEBUG_PRINTF, this.b.string(format.text)];
        for (const value of values) operands.push(this.value(value));
        return this.b.emitResultWords(Op.OpExtInst, this.typeId(type), operands);
      }
      case "nonuniform": {
        if (type.kind === "opaque") {
          const loaded = this.value(args[0]!);
          this.nonUniform(loaded);
          return loaded;
        }
        const id = this.b.emitResult(Op.OpCopyObject, this.typeId(type), this.value(args[0]!));
        this.nonUniform(id);
        return id;
      }
      case "interpolate":
        return this.interpolate(expr);
      case "helperInvocation":
        this.namedCapability("DemoteToHelperInvocation");
        return this.b.emitResult(Op.OpIsHelperInvocationEXT, this.typeId(type));
      case "bitCountWide":
      case "findLsbWide":
      case "findMsbWide":
        return this.wideBits(expr);
      case "addCarry":
        return this.pair(expr, type, type, (struct, operands) =>
          this.b.emitResultWords(Op.OpIAddCarry, struct, operands),
        );
      case "subBorrow":
        return this.pair(expr, type, type, (struct, operands) =>
          this.b.emitResultWords(Op.OpISubBorrow, struct, operands),
        );
      case "umulExtended":
        return this.multiplyExtended(expr, Op.OpUMulExtended);
      case "imulExtended":
        return this.multiplyExtended(expr, Op.OpSMulExtended);
      case "barrier": {
        const scope = this.b.constUint(Scope.Workgroup);
        this.b.emit(Op.OpControlBarrier, scope, scope, this.b.constUint(AcquireRelease | WorkgroupMemory));
        return 0;
      }
      default: {
        if (isImageLowering(overload.lowering)) return this.imageValue(expr);
        const barrier = memoryBarriers[overload.lowering];
        if (barrier === undefined) throw new Bug(`no lowering ${overload.lowering}`);
        const scope = barrier[0] === Scope.Device ? this.widestScope() : this.b.constUint(barrier[0]);
        this.b.emit(Op.OpMemoryBarrier, scope, this.b.constUint(barrier[1]));
        return 0;
      }
    }
  }

  /** The instructions take 32 bits only: other widths go through them. */
  private derivative(expr: BuiltinExpr): Id {
    const { opcode } = expr.overload;
    const { type } = expr;
    if (controlledDerivatives.has(opcode)) this.b.capability(Capability.DerivativeControl);
    const operands = this.operands(expr);
    if (scalarOf(type) === "float") return this.arithmeticWords(opcode, type, operands);
    const wide = type.kind === "vector" ? vectorType("float", type.size) : scalarType("float");
    const result = this.arithmeticWords(opcode, wide, [this.convertValue(operands[0]!, type, wide)]);
    return this.convertValue(result, wide, type);
  }

  /** Bits of 64-bit integers, whose halves the instructions count: they take 32 bits only. */
  private wideBits({ overload, args, type }: BuiltinExpr): Id {
    const given = args[0]!.type;
    const shape = (scalar: ScalarKind): Type => withScalar(given, scalar);
    const [unsigned, int, bool] = [shape("uint"), shape("int"), shape("bool")];
    let value = this.value(args[0]!);
    if (overload.lowering === "findMsbWide" && scalarOf(given) === "int64") {
      // of a negative number the highest bit that is clear
      const sign = this.arithmetic(Op.OpShiftRightArithmetic, given, value, this.filledConstant(given, 63));
      value = this.arithmetic(Op.OpBitwiseXor, given, value, sign);
    }
    const upper = this.arithmetic(Op.OpShiftRightLogical, given, value, this.filledConstant(given, 32));
    const [low, high] = [this.convertValue(value, given, unsigned), this.convertValue(upper, given, unsigned)];
    if (overload.lowering === "bitCountWide") {
      const [a, b] = [this.arithmetic(Op.OpBitCount, int, low), this.arithmetic(Op.OpBitCount, int, high)];
      return this.convertValue(this.arithmetic(Op.OpIAdd, int, a, b), int, type);
    }
    const lowest = overload.lowering === "findLsbWide";
    const search = lowest ? GlslStd450.FindILsb : GlslStd450.FindUMsb;
    const zero = this.filledConstant(unsigned, 0);
    const inLow = this.b.extInst(this.typeId(int), search, [low]);
    const inHigh = this.b.extInst(this.typeId(int), search, [high]);
    const shifted = this.arithmetic(Op.OpIAdd, int, inHigh, this.filledConstant(int, 32));
    const select = (condition: Id, yes: Id, no: Id): Id =>
      this.b.emitResult(Op.OpSelect, this.typeId(int), condition, yes, no);
    const hasHigh = this.arithmetic(Op.OpINotEqual, bool, high, zero);
    const hasLow = this.arithmetic(Op.OpINotEqual, bool, low, zero);
    const found = lowest ? select(hasLow, inLow, select(hasHigh, shifted, inHigh)) : select(hasHigh, shifted, inLow);
    return this.convertValue(found, int, type);
  }

  /** Values of the arguments that are read; a scalar that stands for a vector is spread. */
  private operands(expr: BuiltinExpr): Id[] {
    const { parameters } = expr.overload;
    const { args } = expr;
    const values = new Array<Id>(args.length);
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      const value = this.value(arg);
      const spread = parameters[at]?.mode === "splat" ? widest(args) : 1;
      values[at] = spread > 1 ? this.splat(value, numberOf(arg.type)!.vectors[spread]!) : value;
    }
    return values;
  }

  /** The instruction `X` or `X_GroupOperation` on the subgroup. */
  private subgroup({ overload, args, type }: BuiltinExpr): Id {
    const { capability, operation, isSwap } = subgroupFactsOf(overload);
    this.b.capability(Capability.GroupNonUniform);
    this.b.capability(capability);
    const operands: Id[] = [this.b.constUint(Scope.Subgroup)];
    if (operation !== undefined && !isSwap) operands.push(operation);
    for (const arg of args) operands.push(this.value(arg));
    if (operation !== undefined && isSwap) operands.push(this.b.constUint(operation));
    return this.b.emitResultWords(overload.opcode, this.typeId(type), operands);
  }

  private interpolate({ overload, args }: BuiltinExpr): Id {
    const [arg, ...more] = args;
    // a swizzle is taken of the interpolated whole
    const whole = arg!.kind === "swizzle" ? arg!.base : arg!;
    this.b.capability(Capability.InterpolationFunction);
    const operands = more.map((each) => this.value(each));
    const pointer = this.pointerOf(this.resolve(whole));
    const id = this.b.extInst(this.typeId(whole.type), overload.opcode, [pointer, ...operands]);
    return arg!.kind === "swizzle" ? this.shuffle(id, whole.type, arg!.components) : id;
  }

  /** The pointer, the scope where the call says none, and what qualifiers say of the access. */
  private atomicPointer(arg: Expr): [Id, Id, number] {
    const place = this.resolve(arg);
    const pointer = this.pointerOf(place, place.swizzle?.[0]);
    const shared = place.storageClass === StorageClass.Workgroup;
    return [pointer, shared ? this.b.constUint(Scope.Workgroup) : this.widestScope(), place.access];
  }

  /** An instruction that gives two results: the first is returned, the second stored to the last argument. */
  private pair(expr: BuiltinExpr, first: Type, second: Type, make: (struct: Id, operands: readonly Id[]) => Id): Id {
    const inputs = expr.args.slice(0, -1).map((arg) => this.value(arg));
    const target = this.resolve(expr.args.at(-1)!);
    const both = make(this.pairType(first, second), inputs);
    const result = this.extract(both, first, 0);
    this.storeConverted(target, expr.args.at(-1)!.type, this.extract(both, second, 1), second);
    return result;
  }

  private pairType(first: Type, second: Type): Id {
    return this.b.typeStruct([this.typeId(first), this.typeId(second)], "pair of results");
  }

  private multiplyExtended(expr: BuiltinExpr, opcode: number): Id {
    const [x, y, high, low] = expr.args;
    const type = expr.overload.parameters[0]!.type;
    const operands = [this.value(x!), this.value(y!)];
    const highPlace = this.resolve(high!);
    const lowPlace = this.resolve(low!);
    const both = this.b.emitResultWords(opcode, this.pairType(type, type), operands);
    this.storeConverted(highPlace, high!.type, this.extract(both, type, 1), type);
    this.storeConverted(lowPlace, low!.type, this.extract(both, type, 0), type);
    return 0;
  }

  /** Stores an output argument, whose type the caller's variable may convert. */
  protected storeConverted(place: Place, to: Type, value: Id, from: Type): void {
    this.store(place, scalarOf(from) === undefined ? value : this.convertValue(value, from, to));
  }
}

function widest(args: readonly Expr[]): number {
  let most = 1;
  for (let at = 0; at < args.length; at++) {
    const { type } = args[at]!;
    if (type.kind === "vector" && type.size > most) most = type.size;
  }
  return most;
}
