import { Bug } from "../../base/index.ts";
import { type Id, Op, type SpirvTarget } from "../../spirv/index.ts";
import type { BinaryExpr, Component, Expr, Variable } from "../check/index.ts";
import {
  boolType,
  elementCount,
  elementType,
  intType,
  isReal,
  leafCount,
  numberOf,
  type ScalarKind,
  type ScalarType,
  scalarFacts,
  scalarOf,
  scalarType,
  type Type,
  vectorSize,
  withScalar,
} from "../types/index.ts";
import { binaryOpcode, unaryOpcode } from "./opcodes.ts";
import { TypeEmitter } from "./types.ts";

/** Constants and what is worked out at specialisation. */
export abstract class ConstantEmitter extends TypeEmitter {
  /** Specialisation constants by variable. */
  private specialized: Map<Variable, Id> | undefined;

  protected override startModule(target: SpirvTarget): void {
    super.startModule(target);
    this.specialized = undefined;
  }

  protected constantId(type: Type, values: readonly Component[], start = 0): Id {
    if (type.kind === "scalar") return this.scalarConstant(type, values[start]!);
    const b = this.b;
    if (type.kind === "vector") {
      const scalar = type.vectors[1] as ScalarType;
      const components = new Array<Id>(type.size);
      for (let at = 0; at < type.size; at++) components[at] = this.scalarConstant(scalar, values[start + at]!);
      return b.constComposite(this.typeId(type), components);
    }
    // only `{}` makes one, and its parts are not known here
    if (type.kind === "array" && type.specSize !== undefined) return b.constNull(this.typeId(type));
    const parts: Id[] = [];
    let at = start;
    if (type.kind === "struct") {
      for (const member of type.members) {
        parts.push(this.constantId(member.type, values, at));
        at += leafCount(member.type);
      }
    } else {
      const element = elementType(type);
      if (element === undefined) throw new Bug(`no constant of ${type.kind}`);
      const width = leafCount(element);
      for (let part = 0; part < elementCount(type)!; part++, at += width) {
        parts.push(this.constantId(element, values, at));
      }
    }
    return b.constComposite(this.typeId(type), parts);
  }

  private scalarConstant(type: ScalarType, value: Component): Id {
    if (type.kindNumber === 3) return this.b.constBool(value !== 0);
    return this.b.constScalar(this.typeId(type), value);
  }

  /** The same value in every component of a type. */
  protected filledConstant(type: Type, value: number): Id {
    if (type.kind === "scalar") return this.scalarConstant(type, value);
    if (type.kind === "vector") {
      const id = this.scalarConstant(type.vectors[1] as ScalarType, value);
      return this.b.constComposite(this.typeId(type), new Array<Id>(type.size).fill(id));
    }
    return this.constantId(
      type,
      Array.from({ length: leafCount(type) }, () => value),
    );
  }

  protected int(value: number): Id {
    return this.b.constInt(value);
  }

  protected override specValue(expr: Expr): Id {
    const b = this.b;
    const type = this.typeId(expr.type);
    switch (expr.kind) {
      case "constant":
        return this.constantId(expr.type, expr.values);
      case "variable":
        return this.specVariable(expr.variable);
      case "unary":
        return b.specConstOp(type, unaryOpcode(expr.op, expr.type), this.specValue(expr.operand));
      case "binary":
        return this.specBinary(expr, type);
      case "convert":
        return this.specConvert(expr.operand, expr.type);
      case "conditional": {
        const single = this.specValue(expr.condition);
        const vector = expr.type.kind === "vector";
        const condition = vector ? this.specSplat(single, withScalar(expr.type, "bool")) : single;
        return b.specConstOp(type, Op.OpSelect, condition, this.specValue(expr.yes), this.specValue(expr.no));
      }
      case "swizzle": {
        const base = this.specValue(expr.base);
        const [first] = expr.components;
        if (expr.base.type.kind === "scalar") return this.specSplat(base, expr.type);
        if (expr.components.length === 1) return b.specConstOp(type, Op.OpCompositeExtract, base, first!);
        return b.specConstOp(type, Op.OpVectorShuffle, base, base, ...expr.components);
      }
      case "index":
        if (expr.index.kind !== "constant") break;
        return b.specConstOp(type, Op.OpCompositeExtract, this.specValue(expr.base), Number(expr.index.values[0]));
      case "member":
        return b.specConstOp(type, Op.OpCompositeExtract, this.specValue(expr.base), expr.member);
      case "construct":
        return this.specConstruct(expr.form, expr.args, expr.type);
      default:
        break;
    }
    throw new Bug(`no specialisation of ${expr.kind}`);
  }

  protected specVariable(variable: Variable): Id {
    let id = this.specialized?.get(variable);
    if (id !== undefined) return id;
    const init = variable.initializer;
    if (init === undefined) throw new Bug(`constant ${variable.name} has no value`);
    if (variable.storage === "specialization") {
      const value = init.kind === "constant" ? init.values[0]! : 0;
      id =
        variable.type === boolType
          ? this.b.specConstBool(value !== 0, variable.specId ?? 0)
          : this.b.specConstScalar(this.typeId(variable.type), value, variable.specId ?? 0);
      this.b.name(id, variable.name);
    } else {
      id = this.specValue(init);
    }
    this.specialized ??= new Map();
    this.specialized.set(variable, id);
    return id;
  }

  /** Gives a variable that the emitter makes itself (the workgroup size) its constant. */
  protected setSpecialized(variable: Variable, id: Id): void {
    this.specialized ??= new Map();
    this.specialized.set(variable, id);
  }

  private specBinary(expr: BinaryExpr, type: Id): Id {
    const wide = vectorSize(expr.left.type) > 1 || vectorSize(expr.right.type) > 1;
    const operand = (side: Expr): Id => {
      const id = this.specValue(side);
      const shape = vectorSize(expr.left.type) > 1 ? expr.left.type : expr.right.type;
      return wide && side.type.kind === "scalar" ? this.specSplat(id, shape) : id;
    };
    const left = operand(expr.left);
    const right = operand(expr.right);
    const opcode = binaryOpcode(expr.op, numberOf(expr.left.type) ?? intType);
    if ((expr.op === "==" || expr.op === "!=") && wide) {
      throw new Bug("comparison of vectors among specialisation constants");
    }
    return this.b.specConstOp(type, opcode, left, right);
  }

  private specSplat(id: Id, type: Type): Id {
    const count = vectorSize(type);
    return count === 1
      ? id
      : this.b.specConstComposite(
          this.typeId(type),
          Array.from({ length: count }, () => id),
        );
  }

  private specConvert(operand: Expr, to: Type): Id {
    const b = this.b;
    const id = this.specValue(operand);
    const from = scalarOf(operand.type);
    const type = this.typeId(to);
    if (from === "bool") {
      return b.specConstOp(type, Op.OpSelect, id, this.filledConstant(to, 1), this.filledConstant(to, 0));
    }
    if (scalarOf(to) === "bool") {
      return b.specConstOp(type, Op.OpINotEqual, id, this.filledConstant(operand.type, 0));
    }
    if (isReal(from)) return b.specConstOp(type, Op.OpFConvert, id);
    const fromFacts = scalarFacts[from as ScalarKind];
    const toBits = scalarFacts[scalarOf(to) as ScalarKind].bits;
    // adding zero is the one change of sign that shaders may do at specialisation
    if (fromFacts.bits === toBits) return b.specConstOp(type, Op.OpIAdd, id, this.filledConstant(to, 0));
    const resized = b.specConstOp(type, Op.OpSConvert, id);
    if (fromFacts.kind === "int" || toBits < fromFacts.bits) return resized;
    // before SPIR-V 1.4 OpUConvert is no operation on constants: what the sign has filled is cleared again
    return b.specConstOp(type, Op.OpBitwiseAnd, resized, this.filledConstant(to, 2 ** fromFacts.bits - 1));
  }

  private specConstruct(form: string, args: readonly Expr[], type: Type): Id {
    const b = this.b;
    const ids = args.map((arg) => this.specValue(arg));
    if (form === "splat") return this.specSplat(ids[0]!, type);
    if (form === "members" || (type.kind === "matrix" && args.every((arg) => vectorSize(arg.type) === type.rows))) {
      return b.specConstComposite(this.typeId(type), ids);
    }
    const scalar = scalarOf(type)!;
    const leaves: Id[] = [];
    for (const [at, arg] of args.entries()) {
      const count = vectorSize(arg.type);
      if (count === 0) throw new Bug("matrix among specialisation constants");
      for (let part = 0; part < count; part++) {
        const leaf = this.typeId(scalarType(scalar));
        leaves.push(count === 1 ? ids[at]! : b.specConstOp(leaf, Op.OpCompositeExtract, ids[at]!, part));
      }
    }
    if (type.kind !== "vector") throw new Bug(`specialisation of ${type.kind}`);
    return b.specConstComposite(this.typeId(type), leaves.slice(0, type.size));
  }
}
