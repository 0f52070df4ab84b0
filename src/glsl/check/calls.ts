import { suggest } from "../../base/index.ts";
import {
  builtinFunctionNames,
  builtinOverloads,
  type Overload,
  overloadSince,
  type ParameterMode,
} from "../builtins/index.ts";
import type { Note } from "../diagnostics.ts";
import type * as ast from "../syntax/index.ts";
import { arrayType, coreType, scalarFacts, scalarOf, type Type, typeName, voidType } from "../types/index.ts";
import { type Range, signRank } from "./base.ts";
import { ConstructorChecker } from "./constructors.ts";
import { type KnownFunction, rememberedOverload, rememberOverload } from "./dialect.ts";
import { foldBuiltin } from "./fold-builtins.ts";
import { foreignFunctions } from "./foreign-names.ts";
import { assignProblem, rootVariable, throughReference } from "./lvalues.ts";
import { memoryOrderProblem, scopeArgument } from "./memory-order.ts";
import { mayEnable, reportMissingFunction } from "./missing.ts";
import { builtinNode, callNode, textNode } from "./nodes.ts";
import type { Scopes } from "./scope.ts";
import type { ConstantExpr, Constness, Expr, FunctionSymbol } from "./tree.ts";

type Candidate = FunctionSymbol | Overload;
type Parameter = { readonly type: Type; readonly mode: ParameterMode | undefined };

const none = { instruction: "", opcode: 0, pure: false, stage: undefined, extensions: [] } as const;
const common = { parameters: [], returns: voidType, ...none } as const;
/** What a function calls that calls none. */
export const noCalls: FunctionSymbol["calls"] = new Map();
const noFunctions: readonly FunctionSymbol[] = [];
const markOverload: Overload = { ...common, name: "nonuniformEXT", lowering: "nonuniform" };
const printOverload: Overload = { ...common, name: "debugPrintfEXT", lowering: "debugPrint" };

/** Calls: constructors, methods, user functions, built-in functions. */
export abstract class CallChecker extends ConstructorChecker {
  protected abstract readonly scopes: Scopes;
  protected abstract currentFunction: FunctionSymbol | undefined;
  /** Checks an expression as a place: it need not be readable. */
  protected abstract place(expr: ast.Expr): Expr;
  protected abstract resolveType(type: ast.TypeSpecifier): Type;
  protected abstract arraySize(size: ast.Expr): Type;
  protected abstract lengthOf(call: ast.CallExpr, base: ast.Expr): Expr;

  protected call(call: ast.CallExpr): Expr {
    const callee = call.callee;
    if (callee.kind === "type" && this.context.relaxed && builtinOverloads(callee.type.name).length > 0) {
      // `texture2D(…)` is a function there, and no type
      const { position, end, type } = callee;
      return this.call({ ...call, callee: { kind: "name", name: type.name, position, end } });
    }
    if (callee.kind === "type" && builtinOverloads(callee.type.name).length > 0) {
      this.values(call.args);
      reportMissingFunction(this.context, { name: callee.type.name, position: callee.position, end: callee.end });
      return this.errorExpr(call);
    }
    if (callee.kind === "type") return this.construct(this.resolveType(callee.type), this.values(call.args), call);
    if (callee.kind === "member") return this.method(call, callee);
    if (callee.kind === "index") {
      const type = this.constructorType(callee);
      if (type !== undefined) return this.construct(type, this.values(call.args), call);
    }
    if (callee.kind !== "name") {
      this.values(call.args);
      this.diagnostics.error("GLSL_NOT_A_FUNCTION", { name: "expression" }, callee.position, callee.end);
      return this.errorExpr(call);
    }
    const symbol = this.scopes.lookup(callee.name);
    if (symbol?.kind === "struct") return this.construct(symbol.type, this.values(call.args), call);
    if (symbol !== undefined && symbol.kind !== "functions") {
      this.values(call.args);
      if (symbol.kind !== "lost") {
        this.diagnostics.error("GLSL_NOT_A_FUNCTION", { name: callee.name }, callee.position, callee.end);
      }
      return this.errorExpr(call);
    }
    const own = symbol === undefined ? this.extensionCall(call, callee) : undefined;
    if (own !== undefined) return own;
    const functions = symbol?.functions ?? noFunctions;
    const known = this.dialect.function(callee.name);
    if (functions.length === 0 && known.overloads.length === 0) return this.unknownFunction(call, callee);
    return this.resolveCall(call, callee, functions, known);
  }

  /** What extensions spell as calls and take any type: `nonuniformEXT(…)`, `debugPrintfEXT("…", …)`. */
  private extensionCall(call: ast.CallExpr, callee: ast.NameExpr): Expr | undefined {
    const { extensions } = this.context;
    if (callee.name === "nonuniformEXT" && extensions.has("GL_EXT_nonuniform_qualifier")) {
      const [arg, more] = this.values(call.args);
      if (arg === undefined || more !== undefined) {
        const values = { name: callee.name, types: call.args.map(() => "…").join(", ") };
        this.diagnostics.error("GLSL_NO_OVERLOAD", values, callee.position, callee.end);
        return this.errorExpr(call);
      }
      if (arg.type.kind === "error") return arg;
      const overload: Overload = { ...markOverload, returns: arg.type, parameters: [{ type: arg.type, mode: "in" }] };
      return builtinNode(overload, [arg], 0, call);
    }
    if (callee.name !== "debugPrintfEXT" || !extensions.has("GL_EXT_debug_printf")) return undefined;
    const [format, ...rest] = call.args;
    const args = this.values(rest);
    if (format?.kind !== "text") {
      const at = format ?? call;
      this.diagnostics.error("GLSL_PRINT_FORMAT", {}, at.position, at.end);
      return this.errorExpr(call);
    }
    for (const arg of args) {
      if (arg.type.kind === "scalar" || arg.type.kind === "vector" || arg.type.kind === "error") continue;
      const values = { type: typeName(arg.type) };
      this.diagnostics.error("GLSL_PRINT_ARGUMENT", values, arg.position, arg.end);
      return this.errorExpr(call);
    }
    if (args.some((arg) => arg.kind === "error")) return this.errorExpr(call);
    return builtinNode(printOverload, [textNode(format.text, voidType, call), ...args], 0, call);
  }

  private values(args: readonly ast.Expr[]): Expr[] {
    const values = new Array<Expr>(args.length);
    for (let at = 0; at < args.length; at++) values[at] = this.value(args[at]!);
    return values;
  }

  private method(call: ast.CallExpr, callee: ast.MemberExpr): Expr {
    if (callee.name !== "length" || call.args.length > 0) {
      this.values(call.args);
      this.place(callee.base);
      this.diagnostics.error("GLSL_NO_METHOD", { name: callee.name }, callee.namePosition, callee.end);
      return this.errorExpr(call);
    }
    return this.lengthOf(call, callee.base);
  }

  /** The array type that `S[2][]` names, where `S` is a struct; undefined where the base is no type. */
  private constructorType(callee: ast.IndexExpr): Type | undefined {
    const sizes: (ast.Expr | undefined)[] = [];
    let base: ast.Expr = callee;
    for (; base.kind === "index"; base = base.base) sizes.push(base.index);
    if (base.kind !== "name") return undefined;
    const symbol = this.scopes.lookup(base.name);
    if (symbol?.kind !== "struct") return undefined;
    let type: Type = symbol.type;
    // the last size is the innermost
    for (const size of sizes) {
      const sized: Type = size === undefined ? arrayType(type, undefined) : this.arraySize(size);
      type = sized.kind === "array" ? arrayType(type, sized.size, sized.specSize) : sized;
    }
    return type;
  }

  private unknownFunction(call: ast.CallExpr, callee: ast.NameExpr): Expr {
    this.values(call.args);
    if (this.context.lostNames.has(callee.name) || this.diagnostics.full) return this.errorExpr(call);
    if (this.diagnostics.isOfRefused(callee.name) || reportMissingFunction(this.context, callee))
      return this.errorExpr(call);
    const near = foreignFunctions.get(callee.name) ?? suggest(callee.name, this.functionNames());
    const { position, end } = callee;
    if (near === undefined) this.diagnostics.error("GLSL_UNDECLARED_FUNCTION", { name: callee.name }, position, end);
    else this.diagnostics.error("GLSL_UNDECLARED_FUNCTION_NEAR", { name: callee.name, near }, position, end);
    return this.errorExpr(call);
  }

  /** Reports a call that fits a form of the function that an extension would bring. */
  private reportMissingForm({ name, position, end }: ast.NameExpr, args: readonly Expr[]): boolean {
    const missing = builtinOverloads(name).filter(({ extensions }) =>
      extensions.every((each) => !this.context.extensions.has(each)),
    );
    const form =
      missing.find(({ parameters }) => this.isExact(parameters, args)) ?? this.bestCandidates(missing, args)[0];
    if (form === undefined || "kind" in form) return false;
    const extension = form.extensions.find((each) => mayEnable(this.context, each));
    if (extension === undefined) return false;
    const types = form.parameters.map((parameter) => typeName(parameter.type)).join(", ");
    this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what: `'${name}(${types})'`, extension }, position, end);
    return true;
  }

  private *functionNames(): Iterable<string> {
    for (const name of this.scopes.names()) {
      const kind = this.scopes.lookup(name)?.kind;
      if (kind === "functions" || kind === "struct") yield name;
    }
    yield* builtinFunctionNames();
  }

  private resolveCall(
    call: ast.CallExpr,
    callee: ast.NameExpr,
    functions: readonly FunctionSymbol[],
    known: KnownFunction,
  ): Expr {
    // whether an argument is read is known only with the overload, so all are places first
    const args = new Array<Expr>(call.args.length);
    let failed = false;
    for (let at = 0; at < args.length; at++) {
      const arg = this.place(call.args[at]!);
      if (arg.type.kind === "error") failed = true;
      args[at] = arg;
    }
    if (failed) return this.errorExpr(call);
    const target = this.chosenCandidate(callee, args, functions, known);
    if (target === undefined) return this.errorExpr(call);
    if ("lowering" in target && target.lowering === "subgroup" && !this.checkExtended(callee, target, args)) {
      // the overload is one for arguments of other types, and so is what it returns
      return this.errorExpr(call);
    }
    const { parameters } = target;
    const converted = new Array<Expr>(args.length);
    for (let at = 0; at < args.length; at++) {
      const arg = this.argument(args[at]!, parameters[at]!, target);
      if (arg.kind === "error") failed = true;
      converted[at] = arg;
    }
    if (failed) return this.errorExpr(call, target.returns);
    return "kind" in target
      ? this.userCall(call, target, converted)
      : this.builtinCall(call, callee, target, converted);
  }

  /** Subgroup functions don't convert numbers of other widths: they have them by extensions of their own. */
  private checkExtended({ name, position, end }: ast.NameExpr, target: Overload, args: readonly Expr[]): boolean {
    const [value] = args;
    const scalar = value === undefined ? undefined : scalarOf(value.type);
    if (scalar === undefined || scalar === scalarOf(target.parameters[0]!.type)) return true;
    const { bits } = scalarFacts[scalar];
    // a ballot is one whatever it is made of
    if (bits === 32 || scalar === "double" || target.name.includes("Ballot")) return true;
    const extension = `GL_EXT_shader_subgroup_extended_types_${scalar.replace("uint", "int")}`;
    this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what: `'${name}' of ${scalar}`, extension }, position, end);
    return false;
  }

  /** The function that the arguments' types choose; undefined where none or several do, which is reported. */
  private chosenCandidate(
    callee: ast.NameExpr,
    args: readonly Expr[],
    functions: readonly FunctionSymbol[],
    known: KnownFunction,
  ): Candidate | undefined {
    const isBuiltin = functions.length === 0;
    const remembered = isBuiltin ? rememberedOverload(known, args) : undefined;
    if (remembered !== undefined) return remembered;
    const candidates = isBuiltin ? known.overloads : [...functions, ...known.overloads];
    const best = this.bestCandidates(candidates, args);
    const [target] = best;
    if (target === undefined && isBuiltin && this.diagnostics.isOfRefused(callee.name)) return undefined;
    if (target === undefined && isBuiltin && this.reportMissingForm(callee, args)) return undefined;
    if (target === undefined || best.length > 1) {
      this.reportNoOverload(callee, args, target === undefined ? candidates : best, target !== undefined);
      return undefined;
    }
    if (!("kind" in target) && isBuiltin) rememberOverload(known, args, target);
    return target;
  }

  private bestCandidates(candidates: readonly Candidate[], args: readonly Expr[]): readonly Candidate[] {
    // a user's function hides a built-in one of the same parameters: it comes first in the list
    for (const candidate of candidates) if (this.isExact(candidate.parameters, args)) return [candidate];
    const viable: { candidate: Candidate; ranks: number[] }[] = [];
    for (const candidate of candidates) {
      const { parameters } = candidate;
      if (parameters.length !== args.length) continue;
      const ranks = args.map((arg, at) => this.argumentRank(arg.type, parameters[at]!));
      if (ranks.every((rank) => rank !== undefined)) viable.push({ candidate, ranks });
    }
    return viable
      .filter((one) => !viable.some((other) => other !== one && isBetter(other.ranks, one.ranks)))
      .map(({ candidate }) => candidate);
  }

  private isExact(parameters: readonly Parameter[], args: readonly Expr[]): boolean {
    if (parameters.length !== args.length) return false;
    for (let at = 0; at < args.length; at++) {
      if (this.argumentRank(args[at]!.type, parameters[at]!) !== 0) return false;
    }
    return true;
  }

  private argumentRank(arg: Type, parameter: Parameter): number | undefined {
    switch (parameter.mode) {
      case "out":
        return this.conversionRank(parameter.type, arg);
      case "inout":
      case "interpolant":
      case "memory": {
        const rank = this.conversionRank(arg, parameter.type);
        return rank === 0 ? 0 : undefined;
      }
      default:
        return this.conversionRank(arg, parameter.type);
    }
  }

  private reportNoOverload(
    callee: ast.NameExpr,
    args: readonly Expr[],
    candidates: readonly Candidate[],
    ambiguous: boolean,
  ): void {
    const values = { name: callee.name, types: args.map((arg) => typeName(arg.type)).join(", ") };
    const { position, end } = callee;
    const own = candidates.filter((target) => "kind" in target);
    // built-in ones are many and stand nowhere: the nearest few, at the call
    const nearest = candidates
      .filter((target) => !("kind" in target))
      .map((target) => ({ target, fits: this.fittingArguments(target, args) }))
      .sort((a, b) => b.fits - a.fits)
      .slice(0, ambiguous || own.length === 0 ? 4 : 0);
    const notes: Note[] = [];
    for (const target of [...own.slice(0, 8), ...nearest.map((each) => each.target)]) {
      const signature = target.parameters.map((parameter) => typeName(parameter.type)).join(", ");
      const mismatch = ambiguous ? "" : this.mismatchOf(target, args);
      notes.push({
        message: `candidate: ${typeName(target.returns)} ${target.name}(${signature})${mismatch}`,
        position: "kind" in target ? target.position : position,
        end: "kind" in target ? target.end : end,
      });
    }
    if (ambiguous) this.diagnostics.error("GLSL_AMBIGUOUS_CALL", values, position, end, notes);
    else this.diagnostics.error("GLSL_NO_OVERLOAD", values, position, end, notes);
  }

  /** How near a candidate is: arguments that it would take, first the first, less those too many or too few. */
  private fittingArguments({ parameters }: Candidate, args: readonly Expr[]): number {
    let fits = -Math.abs(parameters.length - args.length);
    for (const [at, arg] of args.entries()) {
      const parameter = parameters[at];
      const rank = parameter === undefined ? undefined : this.argumentRank(arg.type, parameter);
      if (rank !== undefined) fits += at === 0 && rank === 0 ? 1.5 : 1;
    }
    return fits;
  }

  /** Why a candidate does not take the arguments. */
  private mismatchOf({ parameters }: Candidate, args: readonly Expr[]): string {
    const count = parameters.length;
    if (count !== args.length) return `: it takes ${count} argument${count === 1 ? "" : "s"}, not ${args.length}`;
    const at = args.findIndex((arg, each) => this.argumentRank(arg.type, parameters[each]!) === undefined);
    if (at < 0) return "";
    return `: argument ${at + 1} is ${typeName(args[at]!.type)}, not ${typeName(parameters[at]!.type)}`;
  }

  private argument(arg: Expr, parameter: Parameter, target: Candidate): Expr {
    switch (parameter.mode) {
      case undefined:
      case "in":
      case "splat":
        return this.coerce(this.readable(arg), parameter.type);
      case "memory": {
        const storage = rootVariable(arg)?.storage;
        if (storage !== "buffer" && storage !== "shared" && !throughReference(arg)) {
          this.diagnostics.error("GLSL_ATOMIC_MEMORY", { name: target.name }, arg.position, arg.end);
          return this.errorExpr(arg);
        }
        if (!this.checkAssignable(arg)) return this.errorExpr(arg);
        if (arg.kind === "swizzle" && arg.components.length !== 1) return this.errorExpr(arg);
        return this.readable(arg);
      }
      case "interpolant": {
        const root = rootVariable(arg);
        if (root?.storage === "in" && root.builtIn === undefined) return arg;
        this.diagnostics.error("GLSL_INTERPOLANT", { name: target.name }, arg.position, arg.end);
        return this.errorExpr(arg);
      }
      default:
        return this.checkAssignable(arg) ? arg : this.errorExpr(arg);
    }
  }

  /** Reports an access chain whose memory is writeonly. */
  protected abstract readable(expr: Expr): Expr;

  /** Reports an expression that is no l-value. */
  protected checkAssignable(expr: Expr): boolean {
    if (expr.kind === "error") return false;
    const problem = assignProblem(expr);
    if (problem === undefined) return true;
    this.diagnostics.error("GLSL_NOT_ASSIGNABLE", { reason: problem }, expr.position, expr.end);
    return false;
  }

  private userCall(call: ast.CallExpr, callee: FunctionSymbol, args: readonly Expr[]): Expr {
    const { position, end } = call;
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      if (coreType(arg.type).kind !== "opaque") continue;
      if (arg.kind === "construct") {
        this.diagnostics.error("GLSL_SAMPLED_PLACE", {}, arg.position, arg.end);
        continue;
      }
      const given = rootVariable(arg)?.memory ?? [];
      const taken = callee.parameters[at]?.memory ?? [];
      const lost = given.find((name) => name !== "restrict" && !taken.includes(name));
      if (lost === undefined) continue;
      this.diagnostics.error("GLSL_ARGUMENT_QUALIFIER", { name: lost }, arg.position, arg.end);
    }
    const caller = this.currentFunction;
    if (caller !== undefined) {
      if (caller.calls === noCalls) caller.calls = new Map();
      if (!caller.calls.has(callee)) caller.calls.set(callee, { position, end });
    }
    return callNode(callee, args, call);
  }

  /** Reads of writeonly images, writes of readonly ones, arguments that must be constant. */
  private checkImageAccess({ name, lowering, instruction }: Overload, args: readonly Expr[]): boolean {
    if (!restricted.has(lowering)) return true;
    const [image] = args;
    if (image === undefined) return true;
    const { position, end } = image;
    const memory = rootVariable(image)?.memory ?? [];
    if ((lowering === "imageLoad" || lowering === "imageAtomic") && memory.includes("writeonly")) {
      this.diagnostics.error("GLSL_WRITEONLY", { name: rootVariable(image)?.name ?? "" }, position, end);
      return false;
    }
    if ((lowering === "imageStore" || lowering === "imageAtomic") && memory.includes("readonly")) {
      const reason = `'${rootVariable(image)?.name}' is readonly`;
      this.diagnostics.error("GLSL_NOT_ASSIGNABLE", { reason }, position, end);
      return false;
    }
    if (lowering === "subgroup" && instruction.endsWith("_ClusteredReduce")) {
      const size = args[1]!;
      const value = size.kind === "constant" ? Number(size.values[0]) : 0;
      if (size.constness !== 2 && (value < 1 || (value & (value - 1)) !== 0)) {
        this.diagnostics.error("GLSL_CLUSTER_SIZE", {}, size.position, size.end);
        return false;
      }
    }
    if (lowering === "imageAtomic" && !this.checkAtomicFormat(name, image)) return false;
    const fixed = lowering === "sample" || lowering === "fetch" ? "o" : lowering === "gather" ? "mq" : "";
    for (let at = 0; fixed !== "" && at < instruction.length; at++) {
      const arg = args[at];
      const role = instruction[at]!;
      if (arg === undefined || !fixed.includes(role)) continue;
      if (arg.kind === "constant") {
        const [low, high] = role === "m" ? [0, 3] : [-8, 7];
        if (role === "q" || arg.values.every((value) => value >= low && value <= high)) continue;
        const values = { what: argumentNames[role] ?? role, name, low, high };
        this.diagnostics.error("GLSL_ARGUMENT_RANGE", values, arg.position, arg.end);
        return false;
      }
      if (arg.constness !== 0) continue;
      const what = argumentNames[role] ?? role;
      this.diagnostics.error("GLSL_CONSTANT_ARGUMENT", { what, name }, arg.position, arg.end);
      return false;
    }
    return true;
  }

  /** Atomics on images want 32 bits a texel. Source: GLSL 4.60 section 8.12. */
  private checkAtomicFormat(name: string, image: Expr): boolean {
    const type = coreType(image.type);
    if (type.kind !== "opaque" || type.format === "Unknown") return true;
    const exchanged =
      type.scalar === "float" &&
      (name === "imageAtomicExchange" || name.startsWith("imageAtomicLoad") || name.startsWith("imageAtomicStore"));
    if (type.format === "R32i" || type.format === "R32ui" || (exchanged && type.format === "R32f")) return true;
    const formats = type.scalar === "float" ? "r32f" : "r32i and r32ui";
    this.diagnostics.error("GLSL_ATOMIC_FORMAT", { name, formats }, image.position, image.end);
    return false;
  }

  /** Scopes and orders are constants, and say something that has a meaning. */
  private checkMemoryOrder(overload: Overload, args: readonly Expr[], scopeAt: number, callee: Range): boolean {
    const { name } = overload;
    const open = args.slice(scopeAt).find((arg) => arg.kind !== "constant");
    if (open !== undefined) {
      const values = { what: "scope or order", name };
      this.diagnostics.error("GLSL_CONSTANT_ARGUMENT", values, open.position, open.end);
      return false;
    }
    const problem = memoryOrderProblem(overload, args, scopeAt, this.context.stage === "compute");
    if (problem === undefined) return true;
    this.diagnostics.error("GLSL_MEMORY_ORDER", { name, problem }, callee.position, callee.end);
    return false;
  }

  private builtinCall(call: ast.CallExpr, callee: Range, overload: Overload, args: readonly Expr[]): Expr {
    if (overload.stage !== undefined && overload.stage !== this.context.stage) {
      const values = { name: overload.name, stage: overload.stage };
      this.diagnostics.error("GLSL_WRONG_STAGE", values, callee.position, callee.end);
      return this.errorExpr(call, overload.returns);
    }
    if (!this.context.hasSubgroups && overload.extensions[0]?.startsWith("GL_KHR_shader_subgroup") === true) {
      const values = { name: overload.name, target: "vulkan1.1" };
      this.diagnostics.error("GLSL_NEEDS_TARGET", values, callee.position, callee.end);
      return this.errorExpr(call, overload.returns);
    }
    const since = this.isOld ? overloadSince(overload) : undefined;
    if (since !== undefined && !this.hasSince(`'${overload.name}'`, since, callee)) {
      return this.errorExpr(call, overload.returns);
    }
    if (overload.extensions.length > 0) this.noteExtension(`'${overload.name}'`, overload.extensions, callee);
    const scopeAt = scopeArgument(overload);
    if (scopeAt !== undefined && !this.checkMemoryOrder(overload, args, scopeAt, callee)) {
      return this.errorExpr(call, overload.returns);
    }
    if (!this.checkImageAccess(overload, args)) return this.errorExpr(call, overload.returns);
    if (args.length > 0 && areConstants(args)) {
      const values = foldBuiltin(overload.name, overload.returns, args);
      if (values !== undefined) return this.constantExpr(overload.returns, values, call);
    }
    const constant = overload.pure && args.length > 0 && args.every((arg) => arg.constness === 1);
    const constness: Constness = constant ? 1 : 0;
    return builtinNode(overload, args, constness, call);
  }
}

/** Arguments by their letter in a lowering. */
const argumentNames: Readonly<Record<string, string>> = { m: "component", o: "offset", q: "offsets" };

/** Lowerings some of whose arguments must be constant, or may not have every memory qualifier. */
const restricted: ReadonlySet<string> = new Set(
  "imageLoad imageStore imageAtomic subgroup sample fetch gather".split(" "),
);

function areConstants(args: readonly Expr[]): args is readonly ConstantExpr[] {
  for (const arg of args) if (arg.kind !== "constant") return false;
  return true;
}

/**
 * Whether a call with ranks `a` beats one with ranks `b`: nowhere worse and somewhere better. Of int to uint and int to a
 * real neither is better. Source: GLSL 4.60, 6.1 (Function Definitions).
 */
function isBetter(a: readonly (number | undefined)[], b: readonly (number | undefined)[]): boolean {
  let better = false;
  for (let at = 0; at < a.length; at++) {
    const x = a[at] ?? 0;
    const y = b[at] ?? 0;
    if (x !== y && x > 1 && y > 1 && (x === signRank || y === signRank)) continue;
    if (x > y) return false;
    if (x < y) better = true;
  }
  return better;
}
