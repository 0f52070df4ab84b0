import {
  BuiltIn,
  Capability,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  type Id,
  ModuleBuilder,
  Op,
  SourceLanguage,
  type SpirvTarget,
  StorageClass,
} from "../../spirv/index.ts";
import type { FunctionSymbol, Module, Variable } from "../check/index.ts";
import type { Version } from "../preprocess/index.ts";
import type { Sources } from "../source.ts";
import { scalarType, vectorType } from "../types/index.ts";
import { StatementEmitter } from "./statements.ts";

export interface EmitOptions {
  readonly stage: "compute" | "vertex" | "fragment";
  readonly entryPoint: string;
  readonly targetEnv: SpirvTarget;
  readonly version: Version;
  readonly debugInfo: boolean;
  readonly sources: Sources;
}

const models = {
  compute: ExecutionModel.GLCompute,
  vertex: ExecutionModel.Vertex,
  fragment: ExecutionModel.Fragment,
} as const;

/** SPIR-V words of a checked shader: what the entry point reaches, nothing else. */
export function emitModule(module: Module, options: EmitOptions): Uint32Array {
  return new ModuleEmitter(module, options).run();
}

class ModuleEmitter extends StatementEmitter {
  private readonly module: Module;
  private readonly options: EmitOptions;
  private readonly functions = new Map<FunctionSymbol, Id>();
  private lastPosition = -1;
  private lastFile = "";
  private lastFileId: Id = 0;

  constructor(module: Module, options: EmitOptions) {
    super(new ModuleBuilder(options.targetEnv));
    this.module = module;
    this.options = options;
  }

  run(): Uint32Array {
    const b = this.b;
    const { options, module } = this;
    b.capability(Capability.Shader);
    const language = options.version.es ? SourceLanguage.ESSL : SourceLanguage.GLSL;
    const file = options.debugInfo ? b.string(options.sources.files[0]!.name) : undefined;
    b.source(language, options.version.number, file);
    this.workGroupSize();
    // callees first: a definition before its uses reads better, though SPIR-V takes any order
    for (const symbol of calleesFirst(module.main)) this.functionBody(symbol);
    const main = this.functionId(module.main);
    b.entryPoint(models[options.stage], main, options.entryPoint);
    this.executionModes(main);
    return b.finish();
  }

  private executionModes(main: Id): void {
    const b = this.b;
    const { localSize, earlyFragmentTests, globals } = this.module;
    switch (this.options.stage) {
      case "compute":
        b.executionMode(main, ExecutionMode.LocalSize, ...localSize.map(({ size }) => size));
        break;
      case "fragment":
        b.executionMode(main, ExecutionMode.OriginUpperLeft);
        if (earlyFragmentTests) b.executionMode(main, ExecutionMode.EarlyFragmentTests);
        if (globals.some(({ builtIn }) => builtIn === "FragDepth")) b.executionMode(main, ExecutionMode.DepthReplacing);
        break;
      default:
        break;
    }
  }

  /** A specialised local size is a constant decorated as the built-in, whether the shader names it or not. */
  private workGroupSize(): void {
    const { localSize, workGroupSize } = this.module;
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

  protected override functionId(symbol: FunctionSymbol): Id {
    let id = this.functions.get(symbol);
    if (id === undefined) {
      id = this.b.id();
      this.functions.set(symbol, id);
      this.b.name(id, symbol.name);
    }
    return id;
  }

  private functionBody(symbol: FunctionSymbol): void {
    const b = this.b;
    const returns = this.typeId(symbol.returns);
    const pointer = (parameter: Variable): Id => this.pointerId(StorageClass.Function, this.typeId(parameter.type));
    const types = symbol.parameters.map((parameter) =>
      parameter.mode === "in" ? this.typeId(parameter.type) : pointer(parameter),
    );
    b.beginFunction(returns, b.typeFunction(returns, types), 0, this.functionId(symbol));
    this.tables = new Map();
    this.lastPosition = -1;
    const ids = types.map((type) => b.parameter(type));
    this.startBlock(b.id());
    for (const [at, parameter] of symbol.parameters.entries()) {
      const id = ids[at]!;
      if (parameter.name !== "") b.name(id, parameter.name);
      if (parameter.mode === "in") b.emit(Op.OpStore, this.slot(parameter).id, id);
      else this.setSlot(parameter, id);
    }
    if (symbol === this.module.main) this.initializeGlobals();
    this.preciseReturn = symbol.precise;
    this.statements(symbol.body ?? []);
    this.linePosition(symbol.closing);
    if (b.inBlock) {
      if (symbol.returns.kind === "void") b.emit(Op.OpReturn);
      else b.emit(Op.OpReturnValue, b.constNull(returns));
    }
    b.endFunction();
  }

  private initializeGlobals(): void {
    for (const variable of this.module.globals) {
      if (variable.storage !== "global" || variable.initializer === undefined) continue;
      this.linePosition(variable.position);
      this.precise = variable.precise;
      const value = this.value(variable.initializer);
      this.precise = false;
      this.b.emit(Op.OpStore, this.slot(variable).id, value);
    }
  }

  protected override linePosition(position: number): void {
    if (!this.options.debugInfo || position === this.lastPosition || position < 0) return;
    this.lastPosition = position;
    const { file, line, column } = this.options.sources.place(position);
    if (file !== this.lastFile) {
      this.lastFile = file;
      this.lastFileId = this.b.string(file);
    }
    this.b.line(this.lastFileId, line, column);
  }
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
