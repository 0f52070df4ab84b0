import { builtinOverloads } from "../builtins/index.ts";
import type * as ast from "../syntax/index.ts";
import { containsOpaque, containsUnsized, coreType, errorType, sameType, type Type, typeName } from "../types/index.ts";
import type { CheckContext } from "./base.ts";
import { noCalls } from "./calls.ts";
import { spreadPrecise } from "./precise.ts";
import { previousNote } from "./specifiers.ts";
import { StatementChecker } from "./statements.ts";
import type { FunctionSymbol, Module, Variable } from "./tree.ts";
import { newVariable } from "./variable.ts";

/** Checks a parsed shader. Undefined where there is no entry point; errors go to the context's diagnostics. */
export function check(unit: ast.TranslationUnit, context: CheckContext): Module | undefined {
  const checker = spare ?? new Checker();
  // one that a failure cuts short is left to the collector
  spare = undefined;
  const module = checker.check(unit, context);
  spare = checker;
  return module;
}

/**
 * The checker of the compile before, with what it knows of that shader: making one, with all that it consists of, costs as
 * much as checking some lines.
 */
let spare: Checker | undefined;
const noFunctions: FunctionSymbol[] = [];

class Checker extends StatementChecker {
  private functions = noFunctions;

  check(unit: ast.TranslationUnit, context: CheckContext): Module | undefined {
    this.begin(context);
    return this.unit(unit);
  }

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.functions = noFunctions;
  }

  private unit(unit: ast.TranslationUnit): Module | undefined {
    const { version } = this.context;
    if (version.es || version.number < 460) {
      for (const { position, end } of unit.strays) this.diagnostics.error("GLSL_STRAY_SEMICOLON", {}, position, end);
    }
    for (const decl of unit.decls) {
      if (this.diagnostics.full) return undefined;
      switch (decl.kind) {
        case "variables":
          this.variables(decl, undefined);
          break;
        case "block":
          this.block(decl);
          break;
        case "function":
          this.functionDecl(decl);
          break;
        case "qualifiers":
          this.qualifierDecl(decl);
          break;
        case "precision":
          this.precisionDecl(decl);
          break;
      }
    }
    this.checkCalls();
    this.checkWholes();
    for (const { type, place } of this.references) {
      if (type.block !== undefined) continue;
      this.diagnostics.error("GLSL_REFERENCE_UNDEFINED", { name: type.name }, place.position, place.end);
    }
    this.settleMembers();
    for (const variable of this.globals) this.settleSize(variable);
    for (const variable of this.unsized) this.settleSize(variable);
    if (this.context.relaxed) this.assignMissing();
    const main = this.functions.find(({ name, body }) => name === this.context.entryPoint && body !== undefined);
    if (main === undefined) {
      // where syntax was lost, the entry point may be what was lost
      if (!this.context.diagnostics.hasErrors) {
        this.diagnostics.error("GLSL_NO_ENTRY_POINT", { name: this.context.entryPoint }, 0, 0);
      }
      return undefined;
    }
    if (this.usesPrecise) spreadPrecise(this.functions);
    const captureStrides = this.captures.finish();
    const [x, y, z] = this.localSize;
    return {
      main,
      globals: this.globals,
      localSize: [x!, y!, z!],
      workGroupSize: this.workGroupSize,
      earlyFragmentTests: this.earlyFragmentTests,
      postDepthCoverage: this.postDepthCoverage,
      depthMode: this.depthMode,
      originUpperLeft: true,
      captureStrides,
    };
  }

  /** What holds for a shader as a whole. */
  private checkWholes(): void {
    const late = this.depthCoveragePlace;
    if (late !== undefined && !this.earlyFragmentTests) {
      this.diagnostics.error("GLSL_NEEDS_EARLY_TESTS", {}, late.position, late.end);
    }
    const block = this.globals.find(({ storage, layout }) => storage === "shared" && layout !== undefined);
    if (block === undefined) return;
    const loose = this.globals.find(({ storage, layout }) => storage === "shared" && layout === undefined);
    if (loose === undefined) return;
    this.diagnostics.error("GLSL_SHARED_MIX", {}, loose.position, loose.end, [previousNote(block)]);
  }

  protected override localFunction(decl: ast.FunctionDecl): void {
    if (decl.body === undefined && !this.context.version.es) this.functionDecl(decl);
    else this.diagnostics.error("GLSL_LOCAL_FUNCTION", { name: decl.name }, decl.position, decl.end);
  }

  private functionDecl(decl: ast.FunctionDecl): void {
    const place = { position: decl.namePosition, end: decl.namePosition + decl.name.length };
    const q = this.qualifiersOf(decl.qualifiers, decl);
    if (q.storage !== undefined) {
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: q.storage, what: "a function" }, q.position, q.end);
    }
    this.checkName(decl.name, place);
    const returns = this.resolveType(decl.returns);
    this.checkPrecision(returns, q.precision, decl.returns);
    if (containsUnsized(returns)) {
      this.diagnostics.error("GLSL_UNSIZED_RETURN", {}, decl.returns.position, decl.returns.end);
    }
    if (containsOpaque(returns)) {
      const { position, end } = decl.returns;
      this.diagnostics.error("GLSL_OPAQUE_VALUE", { type: typeName(returns) }, position, end);
    }
    const parameters = new Array<Variable>(decl.parameters.length);
    for (let at = 0; at < parameters.length; at++) parameters[at] = this.parameter(decl.parameters[at]!);
    const symbol = this.enter(decl, returns, parameters, q.precise, place);
    if (decl.body === undefined) return;
    this.currentFunction = symbol;
    symbol.parameters = parameters;
    this.scopes.push();
    for (const parameter of parameters) if (parameter.name !== "") this.declare(parameter.name, parameter, parameter);
    this.sawReturn = false;
    symbol.body = this.functionBody(decl.body);
    // a return may stand in what could not be read
    if (
      !this.sawReturn &&
      !decl.broken &&
      returns.kind !== "void" &&
      returns.kind !== "error" &&
      !this.context.relaxed
    ) {
      this.diagnostics.error("GLSL_NO_RETURN", { name: decl.name }, place.position, place.end);
    }
    symbol.closing = decl.body.end - 1;
    this.scopes.pop();
    this.currentFunction = undefined;
  }

  /** The symbol of a declaration or definition: the one of an earlier prototype, or a new one. */
  private enter(
    decl: ast.FunctionDecl,
    returns: Type,
    parameters: readonly Variable[],
    precise: boolean,
    place: { readonly position: number; readonly end: number },
  ): FunctionSymbol {
    const { position, end } = place;
    const fresh: FunctionSymbol = {
      kind: "function",
      name: decl.name,
      returns,
      precise,
      parameters,
      position,
      end,
      body: undefined,
      closing: place.end,
      calls: noCalls,
      module: 0,
      id: 0,
    };
    if (
      decl.body !== undefined &&
      decl.name === this.context.entryPoint &&
      (parameters.length > 0 || returns.kind !== "void")
    ) {
      this.diagnostics.error("GLSL_ENTRY_SIGNATURE", { name: decl.name }, place.position, place.end);
    }
    let set = this.scopes.lookupGlobal(decl.name);
    if (set === undefined || set.kind === "lost") {
      set = { kind: "functions", functions: noFunctions };
      this.scopes.setGlobal(decl.name, set);
    }
    if (this.context.version.es && builtinOverloads(decl.name).length > 0) {
      this.diagnostics.error("GLSL_BUILTIN_REDEFINED", { name: decl.name }, place.position, place.end);
    }
    if (set.kind !== "functions") {
      this.diagnostics.error("GLSL_REDEFINED", { name: decl.name }, place.position, place.end, [previousNote(set)]);
      return fresh;
    }
    const previous = set.functions.find(
      (other) =>
        other.parameters.length === parameters.length &&
        other.parameters.every((parameter, at) => sameType(parameter.type, parameters[at]!.type)),
    );
    if (previous === undefined) {
      // an array that grows has room for seventeen, and most names have one function
      if (set.functions.length === 0) set.functions = [fresh];
      else set.functions.push(fresh);
      if (this.functions.length === 0) this.functions = [fresh];
      else this.functions.push(fresh);
      return fresh;
    }
    const notes = [previousNote(previous)];
    const modes = previous.parameters.every((parameter, at) => parameter.mode === parameters[at]!.mode);
    if (!sameType(previous.returns, returns) || !modes) {
      const values = { name: decl.name, types: parameters.map((parameter) => typeName(parameter.type)).join(", ") };
      this.diagnostics.error("GLSL_FUNCTION_MISMATCH", values, place.position, place.end, notes);
      return fresh;
    }
    if (decl.body !== undefined && previous.body !== undefined) {
      this.diagnostics.error("GLSL_REDEFINED", { name: decl.name }, place.position, place.end, notes);
      return fresh;
    }
    return previous;
  }

  private parameter(parameter: ast.Parameter): Variable {
    const q = this.qualifiersOf(parameter.qualifiers, parameter);
    const { position, end } = parameter;
    const base = this.resolveType(parameter.type);
    this.checkPrecision(base, q.precision, parameter.type);
    let type = this.withDimensions(base, parameter.dimensions);
    if (type.kind === "void") {
      this.diagnostics.error("GLSL_VOID_VARIABLE", {}, position, end);
      type = errorType;
    }
    if (containsUnsized(type)) {
      this.diagnostics.error("GLSL_UNSIZED_PARAMETER", {}, position, end);
      type = errorType;
    }
    this.lacksArithmetic(type, "a parameter of type", parameter);
    const storage = q.storage ?? "in";
    const core = coreType(type);
    if (core.kind === "opaque" && storage !== "in" && storage !== "const") {
      this.diagnostics.error("GLSL_OPAQUE_VALUE", { type: typeName(type) }, position, end);
    }
    if (storage !== "in" && storage !== "out" && storage !== "inout" && storage !== "const") {
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: storage, what: "a parameter" }, q.position, q.end);
    }
    this.allowLayout(q, [], "a parameter");
    if (parameter.name !== undefined) this.checkName(parameter.name, parameter);
    const variable = newVariable(parameter.name ?? "", type, "parameter", parameter, storage === "const");
    variable.mode = storage === "out" || storage === "inout" ? storage : "in";
    if (q.memory.length > 0) variable.memory = q.memory;
    if (q.nonUniform) variable.nonUniform = true;
    variable.precise = q.precise;
    return variable;
  }

  /** What the entry point calls, by any way; all functions where there is no entry point. */
  private reachedFunctions(): ReadonlySet<FunctionSymbol> {
    const main = this.functions.find(({ name, body }) => name === this.context.entryPoint && body !== undefined);
    const reached = new Set<FunctionSymbol>(main === undefined ? this.functions : [main]);
    for (const symbol of reached) for (const callee of symbol.calls.keys()) reached.add(callee);
    return reached;
  }

  /** Called functions have bodies, and none calls itself by any way. */
  private checkCalls(): void {
    if (this.functions.every(({ calls }) => calls.size === 0)) return;
    const states = new Map<FunctionSymbol, "open" | "done">();
    const reached = this.reachedFunctions();
    for (const start of this.functions) {
      if (states.has(start)) continue;
      const stack = [{ symbol: start, calls: [...start.calls], at: 0 }];
      states.set(start, "open");
      while (stack.length > 0) {
        const top = stack[stack.length - 1]!;
        const next = top.calls[top.at++];
        if (next === undefined) {
          states.set(top.symbol, "done");
          stack.pop();
          continue;
        }
        const [callee, place] = next;
        if (callee.body === undefined && reached.has(callee)) {
          const notes = [previousNote(callee)];
          this.diagnostics.error("GLSL_NO_BODY", { name: callee.name }, place.position, place.end, notes);
        }
        const state = states.get(callee);
        if (state === "open") {
          this.diagnostics.error("GLSL_RECURSION", { name: callee.name }, place.position, place.end);
        } else if (state === undefined) {
          states.set(callee, "open");
          stack.push({ symbol: callee, calls: [...callee.calls], at: 0 });
        }
      }
    }
  }
}
