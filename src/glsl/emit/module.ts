import {
  BuiltIn,
  Capability,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  type Id,
  InstructionTooLong,
  maxInstructionWords,
  Op,
  opName,
  SourceLanguage,
  type SpirvTarget,
  StorageClass,
} from "../../spirv/index.ts";
import type { FunctionSymbol, Module, Variable } from "../check/index.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { Version } from "../preprocess/index.ts";
import type { Sources } from "../source.ts";
import { coreType, scalarType, vectorType } from "../types/index.ts";
import { noOpaque } from "./expressions.ts";
import type { OpaqueArgument } from "./places.ts";
import { StatementEmitter } from "./statements.ts";

export interface EmitOptions {
  readonly stage: "compute" | "vertex" | "fragment";
  readonly entryPoint: string;
  readonly targetEnv: SpirvTarget;
  readonly version: Version;
  /** The module is of the Vulkan memory model. */
  readonly vulkanMemoryModel: boolean;
  readonly debugInfo: boolean;
  readonly sources: Sources;
}

const noParameters: readonly Id[] = [];

const models = {
  compute: ExecutionModel.GLCompute,
  vertex: ExecutionModel.Vertex,
  fragment: ExecutionModel.Fragment,
} as const;

const depthModes: Readonly<Record<string, number>> = {
  depth_greater: ExecutionMode.DepthGreater,
  depth_less: ExecutionMode.DepthLess,
  depth_unchanged: ExecutionMode.DepthUnchanged,
};

/**
 * SPIR-V words of a checked shader: what the entry point reaches, nothing else. Undefined where something is too large
 * for SPIR-V, which is reported.
 */
export function emitModule(module: Module, options: EmitOptions, diagnostics: Diagnostics): Uint32Array | undefined {
  const emitter = spareEmitters.pop() ?? new ModuleEmitter(options);
  try {
    return emitter.run(module, options);
  } catch (error) {
    if (!(error instanceof InstructionTooLong)) throw error;
    const values = { op: opName(error.opcode), words: error.words, limit: maxInstructionWords };
    diagnostics.error("GLSL_TOO_LONG", values, emitter.position, emitter.position);
    return undefined;
  } finally {
    spareEmitters.push(emitter);
  }
}

/** Emitters that wait for a module: making one costs as much as a small module takes. There is one where nothing nests. */
const spareEmitters: ModuleEmitter[] = [];

class ModuleEmitter extends StatementEmitter {
  private options: EmitOptions;
  /** Functions made for certain samplers and images. */
  private opaqueFunctions: Map<string, Id> | undefined;
  /** Functions with samplers or images among their parameters, to be made for the arguments of a call. */
  private readonly wanted: { symbol: FunctionSymbol; opaque: readonly OpaqueArgument[]; id: Id }[] = [];
  protected override hasDerivatives = false;
  /** Where the source is that is being emitted. */
  position = 0;
  private lastPosition = -1;
  private lastFile = "";
  private lastFileId: Id = 0;
  /** The line that was found last, and the places on it; none where they are not known. */
  private lastLine = 0;
  private lineFrom = 0;
  private lineUntil = 0;

  constructor(options: EmitOptions) {
    super();
    this.options = options;
  }

  run(module: Module, options: EmitOptions): Uint32Array {
    this.startModule(options.targetEnv);
    this.options = options;
    this.hasDerivatives = options.stage === "fragment";
    this.opaqueFunctions = undefined;
    if (this.wanted.length > 0) this.wanted.length = 0;
    this.position = 0;
    this.lastFileId = 0;
    this.lineUntil = 0;
    const b = this.b;
    b.capability(Capability.Shader);
    if (options.vulkanMemoryModel) this.useVulkanMemoryModel();
    const language = options.version.es ? SourceLanguage.ESSL : SourceLanguage.GLSL;
    const file = options.debugInfo ? b.string(options.sources.files[0]!.name) : undefined;
    b.source(language, options.version.number, file);
    this.workGroupSize(module);
    this.captureStrides = module.captureStrides;
    // what is captured is there, written or not
    if (module.captureStrides.size > 0) {
      for (const each of module.globals) if (each.capture !== undefined) this.slot(each);
    }
    this.functionBodies(module);
    // the next stage may read what this one declares, written or not
    if (options.stage === "vertex") {
      for (const each of module.globals) if (each.storage === "out" && !each.name.startsWith("gl_")) this.slot(each);
    }
    const main = this.functionId(module.main, noOpaque);
    b.entryPoint(models[options.stage], main, options.entryPoint);
    this.executionModes(module, main);
    this.aliasedBlocks(module);
    return b.finish();
  }

  private functionBodies(module: Module): void {
    const { main } = module;
    // callees first: a definition before its uses reads better, though SPIR-V takes any order
    if (main.calls.size > 0) {
      for (const symbol of calleesFirst(main)) {
        if (!takesOpaque(symbol)) this.functionBody(module, symbol, noOpaque, this.functionId(symbol, noOpaque));
      }
    } else this.functionBody(module, main, noOpaque, this.functionId(main, noOpaque));
    for (let next = this.wanted.pop(); next !== undefined; next = this.wanted.pop()) {
      this.functionBody(module, next.symbol, next.opaque, next.id);
    }
  }

  /** Several shared blocks share their memory, which each must say. */
  private aliasedBlocks({ globals }: Module): void {
    let count = 0;
    for (let at = 0; at < globals.length; at++) if (isSharedBlock(globals[at]!)) count++;
    if (count < 2) return;
    for (const each of globals) {
      if (isSharedBlock(each)) this.b.decorate(this.slot(each).id, Decoration.Aliased);
    }
  }

  private executionModes(module: Module, main: Id): void {
    const b = this.b;
    const { localSize, earlyFragmentTests, postDepthCoverage, globals } = module;
    switch (this.options.stage) {
      case "compute":
        b.executionMode(main, ExecutionMode.LocalSize, localSize[0].size, localSize[1].size, localSize[2].size);
        break;
      case "fragment":
        b.executionMode(main, ExecutionMode.OriginUpperLeft);
        if (postDepthCoverage) {
          this.namedCapability("SampleMaskPostDepthCoverage");
          b.executionMode(main, ExecutionMode.PostDepthCoverage);
        }
        if (hasBuiltIn(globals, "FragStencilRefEXT")) {
          b.executionMode(main, ExecutionMode.StencilRefReplacingEXT);
        }
        if (earlyFragmentTests) b.executionMode(main, ExecutionMode.EarlyFragmentTests);
        if (hasBuiltIn(globals, "FragDepth")) this.depthModes(main, module.depthMode);
        break;
      default:
        if (module.captureStrides.size === 0) break;
        b.capability(Capability.TransformFeedback);
        b.executionMode(main, ExecutionMode.Xfb);
        break;
    }
  }

  private depthModes(main: Id, depthMode: string | undefined): void {
    this.b.executionMode(main, ExecutionMode.DepthReplacing);
    const mode = depthModes[depthMode ?? ""];
    if (mode !== undefined) this.b.executionMode(main, mode);
  }

  /** A specialised local size is a constant decorated as the built-in, whether the shader names it or not. */
  private workGroupSize({ localSize, workGroupSize }: Module): void {
    const [x, y, z] = localSize;
    if (x.specId === undefined && y.specId === undefined && z.specId === undefined) return;
    const b = this.b;
    const uint = this.typeId(scalarType("uint"));
    const sizes = localSize.map(({ size, specId }) =>
      specId === undefined ? b.constUint(size) : b.specConstScalar(uint, size, specId),
    );
    const id = b.specConstComposite(this.typeId(vectorType("uint", 3)), sizes);
    b.decorate(id, Decoration.BuiltIn, BuiltIn.WorkgroupSize);
    if (workGroupSize !== undefined) this.setSpecialized(workGroupSize, id);
  }

  protected override functionId(symbol: FunctionSymbol, opaque: readonly OpaqueArgument[]): Id {
    if (opaque.length > 0) return this.opaqueFunctionId(symbol, opaque);
    if (symbol.module === this.module) return symbol.id;
    symbol.module = this.module;
    symbol.id = this.b.id();
    this.b.name(symbol.id, symbol.name);
    return symbol.id;
  }

  /** One function for each combination of samplers and images that it is called with. */
  private opaqueFunctionId(symbol: FunctionSymbol, opaque: readonly OpaqueArgument[]): Id {
    this.opaqueFunctions ??= new Map();
    // the mark of a function that is made several times is a number for the key
    if (symbol.module !== this.module) {
      symbol.module = this.module;
      symbol.id = this.opaqueFunctions.size;
    }
    const key = `${symbol.id}:${opaque.map((type) => type && this.typeId(type)).join()}`;
    let id = this.opaqueFunctions.get(key);
    if (id === undefined) {
      id = this.b.id();
      this.opaqueFunctions.set(key, id);
      this.b.name(id, symbol.name);
      this.wanted.push({ symbol, opaque, id });
    }
    return id;
  }

  private functionBody(module: Module, symbol: FunctionSymbol, opaque: readonly OpaqueArgument[], fn: Id): void {
    const b = this.b;
    const { parameters } = symbol;
    this.position = symbol.position;
    const returns = this.typeId(symbol.returns);
    const types = parameters.length === 0 ? noParameters : this.parameterTypes(parameters, opaque);
    b.beginFunction(returns, b.typeFunction(returns, types), 0, fn);
    this.tables = undefined;
    this.lastPosition = -1;
    this.indexTop = 0;
    if (parameters.length === 0) this.startBlock(b.id());
    else this.enterParameters(parameters, types, opaque);
    if (symbol === module.main) this.initializeGlobals(module);
    this.preciseReturn = symbol.precise;
    if (symbol.body !== undefined) this.statements(symbol.body);
    this.linePosition(symbol.closing);
    if (b.inBlock) {
      if (symbol.returns.kind === "void") b.emit(Op.OpReturn);
      else b.emit(Op.OpReturnValue, b.constNull(returns));
    }
    b.endFunction();
    this.dropOwnSlots();
  }

  private parameterTypes(parameters: readonly Variable[], opaque: readonly OpaqueArgument[]): Id[] {
    const types = new Array<Id>(parameters.length);
    for (let at = 0; at < parameters.length; at++) {
      const { type, mode } = parameters[at]!;
      const argument = opaque[at];
      if (argument !== undefined) types[at] = this.pointerId(StorageClass.UniformConstant, this.typeId(argument));
      else types[at] = mode === "in" ? this.typeId(type) : this.pointerId(StorageClass.Function, this.typeId(type));
    }
    return types;
  }

  /** The parameters, the first block, and what is done with them there. */
  private enterParameters(
    parameters: readonly Variable[],
    types: readonly Id[],
    opaque: readonly OpaqueArgument[],
  ): void {
    const b = this.b;
    const ids = new Array<Id>(types.length);
    for (let at = 0; at < types.length; at++) ids[at] = b.parameter(types[at]!);
    this.startBlock(b.id());
    for (let at = 0; at < parameters.length; at++) {
      const parameter = parameters[at]!;
      const id = ids[at]!;
      if (coreType(parameter.type).kind === "reference") {
        b.decorate(id, parameter.mode === "in" ? Decoration.Aliased : Decoration.AliasedPointer);
      }
      if (parameter.name !== "") b.name(id, parameter.name);
      const argument = opaque[at];
      if (argument !== undefined) this.setOpaqueSlot(parameter, id, argument);
      else if (parameter.mode === "in") b.emit(Op.OpStore, this.slot(parameter).id, id);
      else this.setSlot(parameter, id);
    }
  }

  private initializeGlobals({ globals }: Module): void {
    for (let at = 0; at < globals.length; at++) {
      const variable = globals[at]!;
      if (variable.storage !== "global" || variable.initializer === undefined) continue;
      this.linePosition(variable.position);
      this.precise = variable.precise;
      const value = this.value(variable.initializer);
      this.precise = false;
      this.b.emit(Op.OpStore, this.slot(variable).id, value);
    }
  }

  protected override linePosition(position: number): void {
    if (position < 0) return;
    this.position = position;
    if (position === this.lastPosition || !this.options.debugInfo) return;
    this.lastPosition = position;
    if (position < this.lineFrom || position >= this.lineUntil) this.findLine(position);
    else this.b.line(this.lastFileId, this.lastLine, 1 + position - this.lineFrom);
  }

  private findLine(position: number): void {
    const { sources } = this.options;
    sources.locate(position);
    const { file, line, column, from, until } = sources.found;
    if (file !== this.lastFile || this.lastFileId === 0) {
      this.lastFile = file;
      this.lastFileId = this.b.string(file);
    }
    this.lastLine = line;
    this.lineFrom = from;
    this.lineUntil = until;
    this.b.line(this.lastFileId, line, column);
  }
}

function takesOpaque({ parameters }: FunctionSymbol): boolean {
  for (let at = 0; at < parameters.length; at++) if (coreType(parameters[at]!.type).kind === "opaque") return true;
  return false;
}

function isSharedBlock({ storage, layout }: Variable): boolean {
  return layout !== undefined && storage === "shared";
}

function hasBuiltIn(globals: readonly Variable[], name: string): boolean {
  for (let at = 0; at < globals.length; at++) if (globals[at]!.builtIn === name) return true;
  return false;
}

/** The functions that a call can reach, each after those that it calls. The checker has ruled out recursion. */
function calleesFirst(main: FunctionSymbol): FunctionSymbol[] {
  const order: FunctionSymbol[] = [];
  const seen = new Set<FunctionSymbol>([main]);
  const stack = [{ symbol: main, calls: [...main.calls.keys()], at: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const callee = top.calls[top.at++];
    if (callee === undefined) {
      order.push(top.symbol);
      stack.pop();
    } else if (!seen.has(callee)) {
      seen.add(callee);
      stack.push({ symbol: callee, calls: [...callee.calls.keys()], at: 0 });
    }
  }
  return order;
}
