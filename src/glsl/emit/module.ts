import {
  BuiltIn,
  Capability,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  type Id,
  InstructionTooLong,
  ModuleBuilder,
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

const none: readonly OpaqueArgument[] = [];

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
  const emitter = new ModuleEmitter(module, options);
  try {
    return emitter.run();
  } catch (error) {
    if (!(error instanceof InstructionTooLong)) throw error;
    const values = { op: opName(error.opcode), words: error.words, limit: maxInstructionWords };
    diagnostics.error("GLSL_TOO_LONG", values, emitter.position, emitter.position);
    return undefined;
  }
}

class ModuleEmitter extends StatementEmitter {
  private readonly checked: Module;
  private readonly options: EmitOptions;
  private readonly functions = new Map<string | FunctionSymbol, Id>();
  private symbols: Map<FunctionSymbol, number> | undefined;
  /** Functions with samplers or images among their parameters, to be made for the arguments of a call. */
  private readonly wanted: { symbol: FunctionSymbol; opaque: readonly OpaqueArgument[]; id: Id }[] = [];
  protected override readonly hasDerivatives: boolean;
  /** Where the source is that is being emitted. */
  position = 0;
  private lastPosition = -1;
  private lastFile = "";
  private lastFileId: Id = 0;

  constructor(module: Module, options: EmitOptions) {
    super(new ModuleBuilder(options.targetEnv));
    this.checked = module;
    this.options = options;
    this.hasDerivatives = options.stage === "fragment";
  }

  run(): Uint32Array {
    const b = this.b;
    const { options, checked: module } = this;
    b.capability(Capability.Shader);
    if (options.vulkanMemoryModel) this.useVulkanMemoryModel();
    const language = options.version.es ? SourceLanguage.ESSL : SourceLanguage.GLSL;
    const file = options.debugInfo ? b.string(options.sources.files[0]!.name) : undefined;
    b.source(language, options.version.number, file);
    this.workGroupSize();
    this.captureStrides = module.captureStrides;
    // what is captured is there, written or not
    if (module.captureStrides.size > 0) {
      for (const each of module.globals) if (each.capture !== undefined) this.slot(each);
    }
    // callees first: a definition before its uses reads better, though SPIR-V takes any order
    for (const symbol of calleesFirst(module.main)) {
      if (!takesOpaque(symbol)) this.functionBody(symbol, none, this.functionId(symbol, none));
    }
    for (let next = this.wanted.pop(); next !== undefined; next = this.wanted.pop()) {
      this.functionBody(next.symbol, next.opaque, next.id);
    }
    // the next stage may read what this one declares, written or not
    if (options.stage === "vertex") {
      for (const each of module.globals) if (each.storage === "out" && !each.name.startsWith("gl_")) this.slot(each);
    }
    const main = this.functionId(module.main, none);
    b.entryPoint(models[options.stage], main, options.entryPoint);
    this.executionModes(main);
    this.aliasedBlocks();
    return b.finish();
  }

  /** Several shared blocks share their memory, which each must say. */
  private aliasedBlocks(): void {
    const blocks = this.checked.globals.filter(({ storage, layout }) => storage === "shared" && layout !== undefined);
    if (blocks.length > 1) for (const block of blocks) this.b.decorate(this.slot(block).id, Decoration.Aliased);
  }

  private executionModes(main: Id): void {
    const b = this.b;
    const { localSize, earlyFragmentTests, postDepthCoverage, globals } = this.checked;
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
        if (globals.some(({ builtIn }) => builtIn === "FragStencilRefEXT")) {
          b.executionMode(main, ExecutionMode.StencilRefReplacingEXT);
        }
        if (earlyFragmentTests) b.executionMode(main, ExecutionMode.EarlyFragmentTests);
        if (globals.some(({ builtIn }) => builtIn === "FragDepth")) this.depthModes(main);
        break;
      default:
        if (this.checked.captureStrides.size === 0) break;
        b.capability(Capability.TransformFeedback);
        b.executionMode(main, ExecutionMode.Xfb);
        break;
    }
  }

  private depthModes(main: Id): void {
    this.b.executionMode(main, ExecutionMode.DepthReplacing);
    const mode = depthModes[this.checked.depthMode ?? ""];
    if (mode !== undefined) this.b.executionMode(main, mode);
  }

  /** A specialised local size is a constant decorated as the built-in, whether the shader names it or not. */
  private workGroupSize(): void {
    const { localSize, workGroupSize } = this.checked;
    if (!localSize.some(({ specId }) => specId !== undefined)) return;
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
    // most functions take neither samplers nor images
    const key = opaque.length === 0 ? symbol : this.keyOf(symbol, opaque);
    let id = this.functions.get(key);
    if (id === undefined) {
      id = this.b.id();
      this.functions.set(key, id);
      this.b.name(id, symbol.name);
      if (takesOpaque(symbol)) this.wanted.push({ symbol, opaque, id });
    }
    return id;
  }

  private keyOf(symbol: FunctionSymbol, opaque: readonly OpaqueArgument[]): string {
    this.symbols ??= new Map();
    let number = this.symbols.get(symbol);
    if (number === undefined) {
      number = this.symbols.size;
      this.symbols.set(symbol, number);
    }
    return `${number}:${opaque.map((type) => type && this.typeId(type)).join()}`;
  }

  private functionBody(symbol: FunctionSymbol, opaque: readonly OpaqueArgument[], fn: Id): void {
    const b = this.b;
    this.position = symbol.position;
    const returns = this.typeId(symbol.returns);
    const pointer = (parameter: Variable): Id => this.pointerId(StorageClass.Function, this.typeId(parameter.type));
    const types = symbol.parameters.map((parameter, at) => {
      const argument = opaque[at];
      if (argument !== undefined) return this.pointerId(StorageClass.UniformConstant, this.typeId(argument));
      return parameter.mode === "in" ? this.typeId(parameter.type) : pointer(parameter);
    });
    b.beginFunction(returns, b.typeFunction(returns, types), 0, fn);
    this.tables = undefined;
    this.lastPosition = -1;
    const ids = types.map((type) => b.parameter(type));
    this.startBlock(b.id());
    for (let at = 0; at < symbol.parameters.length; at++) {
      const parameter = symbol.parameters[at]!;
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
    if (symbol === this.checked.main) this.initializeGlobals();
    this.preciseReturn = symbol.precise;
    this.statements(symbol.body ?? []);
    this.linePosition(symbol.closing);
    if (b.inBlock) {
      if (symbol.returns.kind === "void") b.emit(Op.OpReturn);
      else b.emit(Op.OpReturnValue, b.constNull(returns));
    }
    b.endFunction();
    this.dropOwnSlots();
  }

  private initializeGlobals(): void {
    for (const variable of this.checked.globals) {
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
    if (!this.options.debugInfo || position === this.lastPosition) return;
    this.lastPosition = position;
    const { sources } = this.options;
    sources.locate(position);
    const { file, line, column } = sources.found;
    if (file !== this.lastFile) {
      this.lastFile = file;
      this.lastFileId = this.b.string(file);
    }
    this.b.line(this.lastFileId, line, column);
  }
}

function takesOpaque(symbol: FunctionSymbol): boolean {
  return symbol.parameters.some(({ type }) => coreType(type).kind === "opaque");
}

/** The functions that a call can reach, each after those that it calls. The checker has ruled out recursion. */
function calleesFirst(main: FunctionSymbol): FunctionSymbol[] {
  if (main.calls.size === 0) return [main];
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
