import { compileGlsl } from "../../src/glsl/index.ts";
import { assemble } from "../../src/spirv/index.ts";

/** GLSL compute source to SPIR-V words. */
export function glslToWords(source: string, extensionsTarget: "vulkan1.1" | "vulkan1.3" = "vulkan1.1"): Uint32Array {
  const compiled = compileGlsl({
    source,
    filename: "test.comp",
    stage: "compute",
    defines: {},
    includes: {},
    targetEnv: extensionsTarget,
    dialect: "vulkan",
    entryPoint: "main",
    debugInfo: false,
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return compiled.words;
}

/** SPIR-V assembly to words. */
export function asmToWords(source: string): Uint32Array {
  const assembled = assemble(source, { file: "test.spvasm", target: "spv1.3" });
  if (!assembled.ok) throw new Error(JSON.stringify(assembled.diagnostics));
  return assembled.words;
}
