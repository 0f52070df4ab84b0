import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOracle } from "../oracles.ts";

/** GLSL compute sources to SPIR-V words by the oracle front end: independent of ours. */
export function glslToWords(source: string): Uint32Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-core-"));
  try {
    const input = join(folder, "a.comp");
    const output = join(folder, "a.spv");
    writeFileSync(input, source);
    const done = runOracle("glslangValidator", ["-V", "--target-env", "vulkan1.1", input, "-o", output]);
    if (done.status !== 0) throw new Error(done.stdout + done.stderr);
    return toWords(readFileSync(output));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** SPIR-V assembly to words by `spirv-as`. */
export function asmToWords(source: string): Uint32Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-core-"));
  try {
    const output = join(folder, "a.spv");
    const done = runOracle("spirv-as", ["--target-env", "spv1.3", "--preserve-numeric-ids", "-", "-o", output], source);
    if (done.status !== 0) throw new Error(done.stderr);
    return toWords(readFileSync(output));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toWords(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}
