/** Whether this host's relaxed SIMD rounds a multiply-add once: then the fused build of gpu.wasm gives the exact bits. */
import { setFlagsFromString } from "node:v8";

/** `(func (export "madd") (param f32 f32 f32) (result f32))`: lane 0 of `f32x4.relaxed_madd` of the splat parameters. */
const probe = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7d, 0x7d, 0x7d, 0x01, 0x7d],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x07, 0x08, 0x01, 0x04, 0x6d, 0x61, 0x64, 0x64, 0x00, 0x00],
  ...[0x0a, 0x16, 0x01, 0x14, 0x00],
  ...[0x20, 0x00, 0xfd, 0x13, 0x20, 0x01, 0xfd, 0x13, 0x20, 0x02, 0xfd, 0x13],
  ...[0xfd, 0x85, 0x02, 0xfd, 0x1f, 0x00, 0x0b],
);

function probeModule(): WebAssembly.Module | undefined {
  if (WebAssembly.validate(probe)) return new WebAssembly.Module(probe);
  // Node 20 has it behind a flag, which a compile that comes later obeys.
  setFlagsFromString("--experimental-wasm-relaxed-simd");
  return WebAssembly.validate(probe) ? new WebAssembly.Module(probe) : undefined;
}

/** The same for the whole process: the instruction set does not change. */
let answer: boolean | undefined;

export function hasFusedMultiplyAdd(): boolean {
  answer ??= measure();
  return answer;
}

function measure(): boolean {
  const module = probeModule();
  if (module === undefined) return false;
  const { madd } = new WebAssembly.Instance(module).exports as { madd(a: number, b: number, c: number): number };
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: its last term is lost where the product is rounded first.
  const x = 1 + 2 ** -12;
  if (madd(x, x, -(1 + 2 ** -11)) !== 2 ** -24) return false;
  // Denormal operands and results are kept: 2^-140 * 2^9 - 2^-131 + the last denormal bit.
  return madd(2 ** -140, 2 ** 9, 2 ** -149) === 2 ** -131 + 2 ** -149;
}
