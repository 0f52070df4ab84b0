import { Scope, MemorySemantics as Semantics } from "../../spirv/index.ts";
import type { Overload } from "../builtins/index.ts";
import type { Expr } from "./tree.ts";

const orders = Semantics.Acquire | Semantics.Release | Semantics.AcquireRelease;
const allSemantics = orders | Semantics.MakeAvailable | Semantics.MakeVisible | Semantics.Volatile;
const allStorage = Semantics.UniformMemory | Semantics.WorkgroupMemory | Semantics.ImageMemory | Semantics.OutputMemory;
const scopes: ReadonlySet<number> = new Set([
  Scope.Device,
  Scope.Workgroup,
  Scope.Subgroup,
  Scope.Invocation,
  Scope.QueueFamily,
]);

/** Where a call has its scope: the first argument that must be constant. Undefined for calls that say no scope. */
export function scopeArgument({ parameters, extensions, name }: Overload): number | undefined {
  if (extensions[0] !== "GL_KHR_memory_scope_semantics") return undefined;
  // a barrier has scopes, storage and semantics only, a comparison both of the latter twice
  if (name.endsWith("Barrier")) return 0;
  return parameters.length - (name.endsWith("CompSwap") ? 5 : 3);
}

/**
 * What is wrong about the storage and semantics of a call whose arguments from `at` on are constants; undefined where
 * nothing is. Source: GL_KHR_memory_scope_semantics, section 8.11 as it changes it.
 */
export function memoryOrderProblem(
  { name }: Overload,
  args: readonly Expr[],
  at: number,
  compute: boolean,
): string | undefined {
  const numbers: number[] = [];
  for (const arg of args.slice(at)) numbers.push(arg.kind === "constant" ? Number(arg.values[0]) : 0);
  const scope = scopeProblem(name === "controlBarrier", numbers, compute);
  if (scope !== undefined) return scope;
  const barrier = name.endsWith("Barrier");
  const [storage = 0, semantics = 0, storage2, semantics2] =
    name === "controlBarrier" ? numbers.slice(2) : numbers.slice(1);
  const own = problemOf(storage, semantics);
  if (own !== undefined) return own;
  if (name === "memoryBarrier" && (semantics & orders) === 0) return "a memory barrier has an order";
  if (barrier && (semantics & Semantics.Volatile) !== 0) return "gl_SemanticsVolatile does not go with a barrier";
  const load = name.endsWith("Load");
  const store = name.endsWith("Store");
  if (store && (semantics & (Semantics.Acquire | Semantics.AcquireRelease)) !== 0) return "a store does not acquire";
  if (load && (semantics & (Semantics.Release | Semantics.AcquireRelease)) !== 0) return "a load does not release";
  if (storage2 === undefined || semantics2 === undefined) return undefined;
  return problemOf(storage2, semantics2) ?? unequalProblem(storage, semantics, storage2, semantics2);
}

/** Which scopes there are in Vulkan, by stage. Source: the Vulkan specification's appendix on SPIR-V, "Scope". */
function scopeProblem(control: boolean, numbers: readonly number[], compute: boolean): string | undefined {
  const [first = 0, second = 0] = numbers;
  if (control && first !== Scope.Subgroup && (first !== Scope.Workgroup || !compute)) {
    return compute ? "it waits for a workgroup or a subgroup" : "outside of compute shaders it waits for a subgroup";
  }
  const memory = control ? second : first;
  if (!scopes.has(memory)) return `there is no scope ${memory}`;
  return memory === Scope.Workgroup && !compute ? "only compute shaders have workgroups" : undefined;
}

function problemOf(storage: number, semantics: number): string | undefined {
  const order = semantics & orders;
  if ((semantics & ~allSemantics) !== 0) return "the semantics have a bit that means nothing there";
  if ((storage & ~allStorage) !== 0) return "the storage has a bit that means nothing there";
  if ((order & (order - 1)) !== 0) return "the semantics name more than one order";
  if (order !== 0 && storage === 0) return "an order is about some storage";
  if (order === 0 && storage !== 0) return "a storage needs an order";
  if ((semantics & Semantics.MakeAvailable) !== 0 && (order & (Semantics.Release | Semantics.AcquireRelease)) === 0) {
    return "gl_SemanticsMakeAvailable goes with a release";
  }
  if ((semantics & Semantics.MakeVisible) !== 0 && (order & (Semantics.Acquire | Semantics.AcquireRelease)) === 0) {
    return "gl_SemanticsMakeVisible goes with an acquire";
  }
  return undefined;
}

/** The order of a comparison that fails asks for no more than that of one that holds. */
function unequalProblem(storage: number, semantics: number, storage2: number, semantics2: number): string | undefined {
  if ((semantics2 & (Semantics.Release | Semantics.AcquireRelease)) !== 0)
    return "a comparison that fails does not release";
  if ((semantics2 & Semantics.Acquire) !== 0 && (semantics & (Semantics.Acquire | Semantics.AcquireRelease)) === 0) {
    return "a comparison that fails acquires only where one that holds does";
  }
  if ((semantics2 & Semantics.MakeVisible) !== 0 && (semantics & Semantics.MakeVisible) === 0) {
    return "a comparison that fails makes visible only where one that holds does";
  }
  if ((storage2 & ~storage) !== 0) return "a comparison that fails orders only storage that one that holds does";
  if (((semantics ^ semantics2) & Semantics.Volatile) !== 0) return "both semantics are volatile, or neither is";
  return undefined;
}
