import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  BuiltIn,
  Capability,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  GlslStd450,
  LoopControl,
  ModuleBuilder,
  Op,
  SelectionControl,
  SourceLanguage,
  type SpirvTarget,
  StorageClass,
} from "../../src/spirv/index.ts";
import { oracle, runOracle } from "../oracles.ts";

/** A compute shader with a loop, an if, a buffer, a shared array, push constants, spec constants and lines. */
function sampleModule(target: SpirvTarget, b = new ModuleBuilder(target)): Uint32Array {
  b.capability(Capability.Shader);
  const file = b.string("sample.comp");
  b.source(SourceLanguage.GLSL, 450, file, `// ${"é\u{1f600}".repeat(70_000)}`);
  const main = b.id();
  const uint = b.typeInt(32, false);
  const float = b.typeFloat();
  const uvec3 = b.typeVector(uint, 3);
  const voidType = b.typeVoid();

  const storage = b.version >= 0x10300 ? StorageClass.StorageBuffer : StorageClass.Uniform;
  const block = b.typeStruct([b.typeRuntimeArray(float, 4)]);
  b.decorate(block, storage === StorageClass.Uniform ? Decoration.BufferBlock : Decoration.Block);
  b.memberDecorate(block, 0, Decoration.Offset, 0);
  b.name(block, "Buffer");
  b.memberName(block, 0, "x");
  const buffer = b.globalVariable(b.typePointer(storage, block), storage);
  b.decorate(buffer, Decoration.DescriptorSet, 0);
  b.decorate(buffer, Decoration.Binding, 3);

  const push = b.typeStruct([uint], "push");
  b.decorate(push, Decoration.Block);
  b.memberDecorate(push, 0, Decoration.Offset, 0);
  const pushVar = b.globalVariable(b.typePointer(StorageClass.PushConstant, push), StorageClass.PushConstant);

  const size = b.specConstScalar(uint, 16, 7);
  const doubled = b.specConstOp(uint, Op.OpIMul, size, b.constUint(2));
  const shared = b.typeArray(float, doubled);
  const sharedVar = b.globalVariable(b.typePointer(StorageClass.Workgroup, shared), StorageClass.Workgroup);
  const gid = b.globalVariable(b.typePointer(StorageClass.Input, uvec3), StorageClass.Input);
  b.decorate(gid, Decoration.BuiltIn, BuiltIn.GlobalInvocationId);

  b.entryPoint(ExecutionModel.GLCompute, main, "main");
  b.executionMode(main, ExecutionMode.LocalSize, 64, 1, 1);

  b.beginFunction(voidType, b.typeFunction(voidType, []), 0, main);
  b.label();
  b.line(file, 3, 1);
  const counter = b.localVariable(b.typePointer(StorageClass.Function, uint), b.constUint(0));
  const index = b.emitResult(Op.OpCompositeExtract, uint, b.emitResult(Op.OpLoad, uvec3, gid), 0);
  const limit = b.emitResult(
    Op.OpLoad,
    uint,
    b.emitResult(Op.OpAccessChain, b.typePointer(StorageClass.PushConstant, uint), pushVar, b.constInt(0)),
  );
  const slot = b.emitResult(Op.OpAccessChain, b.typePointer(StorageClass.Workgroup, float), sharedVar, b.constUint(1));
  const [header, check, body, cont, exit, then, merge] = [b.id(), b.id(), b.id(), b.id(), b.id(), b.id(), b.id()];
  b.emit(Op.OpBranch, header);
  b.label(header);
  b.line(file, 4, 2);
  b.emit(Op.OpLoopMerge, exit, cont, LoopControl.None);
  b.emit(Op.OpBranch, check);
  b.label(check);
  const now = b.emitResult(Op.OpLoad, uint, counter);
  b.emit(Op.OpBranchConditional, b.emitResult(Op.OpULessThan, b.typeBool(), now, limit), body, exit);
  b.label(body);
  const element = b.emitResult(Op.OpAccessChain, b.typePointer(storage, float), buffer, b.constInt(0), index);
  const value = b.emitResult(Op.OpLoad, float, element);
  b.emit(Op.OpStore, element, b.extInst(float, GlslStd450.Fma, [value, b.constScalar(float, 0.5), value]));
  b.emit(Op.OpStore, slot, value);
  b.emit(Op.OpBranch, cont);
  b.label(cont);
  b.emit(Op.OpStore, counter, b.emitResult(Op.OpIAdd, uint, now, b.constUint(1)));
  b.emit(Op.OpBranch, header);
  b.label(exit);
  const odd = b.emitResult(Op.OpIEqual, b.typeBool(), now, b.constUint(1));
  b.line(file, 5, 3);
  b.emit(Op.OpSelectionMerge, merge, SelectionControl.None);
  b.line(file, 5, 9);
  b.emit(Op.OpBranchConditional, odd, then, merge);
  b.label(then);
  b.noLine();
  b.emit(Op.OpStore, slot, b.constScalar(float, 1));
  b.emit(Op.OpBranch, merge);
  b.label(merge);
  b.emit(Op.OpReturn);
  b.endFunction();
  return b.finish();
}

describe("ModuleBuilder", () => {
  it("gives one id to equal types and constants, and separate ids where the layout differs", () => {
    const b = new ModuleBuilder("vulkan1.3");
    const float = b.typeFloat();
    const four = b.constUint(4);
    expect(b.typeFloat()).toBe(float);
    expect(b.typeInt(32, true)).not.toBe(b.typeInt(32, false));
    expect(b.typeArray(float, four, 4)).toBe(b.typeArray(float, four, 4));
    expect(b.typeArray(float, four, 16)).not.toBe(b.typeArray(float, four, 4));
    expect(b.typeArray(float, four)).not.toBe(b.typeArray(float, four, 4));
    expect(b.typeStruct([float])).not.toBe(b.typeStruct([float]));
    expect(b.typeStruct([float], "std140")).toBe(b.typeStruct([float], "std140"));
    expect(b.typeStruct([float], "std140")).not.toBe(b.typeStruct([float], "std430"));
    expect(b.constScalar(float, 0)).not.toBe(b.constScalar(float, -0));
    expect(b.constUint(0xffffffff)).toBe(b.constScalar(b.typeInt(32, false), -1));
  });

  it("writes after reset what a new builder writes, whatever was left unfinished", () => {
    const fresh = sampleModule("vulkan1.1");
    const b = new ModuleBuilder("vulkan1.0");
    const isSame = (): boolean => {
      b.reset("vulkan1.1");
      const again = sampleModule("vulkan1.1", b);
      return again.length === fresh.length && again.every((word, at) => word === fresh[at]);
    };
    expect(isSame()).toBe(true);
    b.reset("vulkan1.3");
    for (let value = 0; value < 3000; value++) b.constUint(value);
    b.extension("SPV_KHR_multiview");
    b.string("another file");
    b.beginFunction(b.typeVoid(), b.typeFunction(b.typeVoid(), []));
    b.label();
    b.line(1, 2, 3);
    expect(isSame()).toBe(true);
  });

  it("leaves the words of a module alone while others are written", () => {
    const b = new ModuleBuilder("spv1.0");
    const modules: Uint32Array[] = [];
    for (let value = 0; value < 40; value++) {
      b.reset("spv1.0");
      for (let at = 0; at < 300; at++) b.constUint(1000 * value + at);
      modules.push(b.finish());
    }
    for (const [value, words] of modules.entries()) {
      // header, OpMemoryModel, the type, then constants of four words that end in their value
      expect(words.length).toBe(5 + 3 + 4 + 4 * 300);
      const values = Array.from({ length: 300 }, (_, at) => words[12 + 4 * at + 3]! - at);
      expect(new Set(values)).toEqual(new Set([1000 * value]));
    }
  });

  it("throws on code outside a block and on a label inside an open block", () => {
    const b = new ModuleBuilder("spv1.0");
    expect(() => b.label()).toThrow(/no open function/);
    b.beginFunction(b.typeVoid(), b.typeFunction(b.typeVoid(), []));
    expect(() => b.emit(Op.OpReturn)).toThrow(/outside a block/);
    b.label();
    expect(() => b.label()).toThrow(/open block/);
    expect(() => b.finish()).toThrow(/inside a function/);
  });

  it("writes scalar literals as IEEE and two's complement words", () => {
    const b = new ModuleBuilder("spv1.0");
    b.constScalar(b.typeFloat(16), 1 / 3); // nearest binary16 of a third is 0x3555
    b.constScalar(b.typeFloat(64), -2);
    b.constScalar(b.typeInt(64, true), -2n);
    b.constInt(-1);
    const words = [...b.finish()];
    const constants: number[][] = [];
    for (let at = 5; at < words.length; at += words[at]! >>> 16) {
      if ((words[at]! & 0xffff) === Op.OpConstant) constants.push(words.slice(at + 3, at + (words[at]! >>> 16)));
    }
    expect(constants).toEqual([[0x3555], [0, 0xc0000000], [0xfffffffe, 0xffffffff], [0xffffffff]]);
  });

  describe.skipIf(!oracle("spirv-val"))("under spirv-val", () => {
    it.each(["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "spv1.4"] as const)("is valid for %s", (target) => {
      const folder = mkdtempSync(join(tmpdir(), "kiln-builder-"));
      try {
        const path = join(folder, "module.spv");
        writeFileSync(path, sampleModule(target));
        expect(runOracle("spirv-val", ["--target-env", target, path])).toEqual({ status: 0, stdout: "", stderr: "" });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
});
