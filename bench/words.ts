import { compileGlsl } from "../src/glsl/index.ts";

/** SPIR-V words of a compute shader that a bench made up. Throws where it does not compile. */
export function wordsOf(source: string, filename: string): Uint32Array {
  const compiled = compileGlsl({
    source,
    filename,
    stage: "compute",
    defines: {},
    includes: {},
    targetEnv: "vulkan1.1",
    dialect: "vulkan",
    entryPoint: "main",
    debugInfo: false,
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics[0]));
  return compiled.words;
}
