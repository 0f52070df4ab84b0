import { runOracle } from "../oracles.ts";

const target = ["-triple=amdgcn", "-mcpu=gfx1030"];

/** llvm-mc's dwords for each line, or its error text. One process for all lines. */
export function llvmAssemble(lines: readonly string[]): (number[] | string)[] {
  const { stdout, stderr } = runOracle("llvm-mc-19", [...target, "-show-encoding"], `${lines.join("\n")}\n`);
  const errors = new Map<number, string>();
  for (const m of stderr.matchAll(/<stdin>:(\d+):\d+: error: (.*)/g)) {
    if (!errors.has(Number(m[1]) - 1)) errors.set(Number(m[1]) - 1, m[2]!);
  }
  const encodings = [...stdout.matchAll(/encoding: \[([0-9a-fx,]+)\]/g)].map((m) => {
    const bytes = Uint8Array.from(m[1]!.split(","), Number);
    return Array.from(new Uint32Array(bytes.buffer));
  });
  let next = 0;
  return lines.map((_, i) => errors.get(i) ?? encodings[next++] ?? "no encoding");
}
