import type { Diagnostic } from "../base/index.ts";
import {
  type BindingLayout,
  type CompileRequest,
  layoutSets,
  type ResourceReflection,
  type SetBindings,
  type SetLayout,
} from "../codeobj/index.ts";
import type { ModuleResource } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";

export type ResourceLayout =
  | { readonly ok: true; readonly sets: readonly SetLayout[]; readonly resources: readonly ResourceReflection[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** What a shader wants of a pipeline's layout. */
interface LayoutNeeds {
  readonly resources: readonly ModuleResource[];
  readonly pushConstantBytes: number;
}

/**
 * Places the shader's resources in their sets: by the pipeline's layout where one is given, else by one derived from
 * the shader (docs/abi.md, "Descriptors"). A given layout must have each binding that the shader uses, of its type and
 * of at least its count, and cover its push constants.
 */
export function layoutResources(request: CompileRequest, reflection: LayoutNeeds): ResourceLayout {
  const used = reflection.resources;
  const given = request.pipeline.layout?.sets;
  const sets = layoutSets(given ?? used.map(asSet));
  const diagnostics: Diagnostic[] = [];
  const covered = request.pipeline.layout?.pushConstantBytes ?? reflection.pushConstantBytes;
  if (covered < reflection.pushConstantBytes) {
    const what = `the shader has ${reflection.pushConstantBytes} bytes of push constants, the layout covers ${covered}`;
    diagnostics.push(reportCompile("COMPILE_PIPELINE", { what }, request.filename));
  }
  const resources: ResourceReflection[] = [];
  for (const resource of used) {
    const { set, binding, name } = resource;
    const placed = bindingOf(sets, set, binding);
    if (placed === undefined) {
      diagnostics.push(reportCompile("COMPILE_LAYOUT_MISSING", { name, set, binding }, request.filename));
    } else if (placed.type !== resource.type || placed.count < resource.count) {
      const have = `${placed.count} ${placed.type}`;
      const values = { name, set, binding, count: resource.count, want: resource.type, have };
      diagnostics.push(reportCompile("COMPILE_LAYOUT_MISMATCH", values, request.filename));
    } else {
      resources.push(reflectionOf(resource, placed));
    }
  }
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, sets, resources };
}

function bindingOf(sets: readonly SetLayout[], set: number, binding: number): BindingLayout | undefined {
  for (let k = 0; k < sets.length; k++) {
    if (sets[k]!.set !== set) continue;
    const { bindings } = sets[k]!;
    for (let m = 0; m < bindings.length; m++) if (bindings[m]!.binding === binding) return bindings[m];
  }
  return undefined;
}

function asSet({ set, binding, type, count }: ModuleResource): SetBindings {
  return { set, bindings: [{ binding, type, count }] };
}

/** Each shape written out: an object made of another one by spreading takes as long as half of the reflection. */
function reflectionOf(resource: ModuleResource, placed: BindingLayout): ResourceReflection {
  const { set, name, blockSizeBytes, runtimeArrayStrideBytes, readonly, writeonly } = resource;
  const { binding, type, count, offsetBytes, strideBytes } = placed;
  if (blockSizeBytes === undefined)
    return { binding, type, count, offsetBytes, strideBytes, set, name, readonly, writeonly };
  if (runtimeArrayStrideBytes === undefined)
    return { binding, type, count, offsetBytes, strideBytes, set, name, blockSizeBytes, readonly, writeonly };
  return {
    binding,
    type,
    count,
    offsetBytes,
    strideBytes,
    set,
    name,
    blockSizeBytes,
    runtimeArrayStrideBytes,
    readonly,
    writeonly,
  };
}
