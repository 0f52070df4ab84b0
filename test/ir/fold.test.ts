import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { OpFlag, opRows } from "../../src/ir/index.ts";

const view = new DataView(new ArrayBuffer(8));
const f = (bits: number): number => {
  view.setUint32(0, bits);
  return view.getFloat32(0);
};
const u = (x: number): number => {
  if (Number.isNaN(x)) return 0x7fc00000;
  view.setFloat32(0, x);
  return view.getUint32(0);
};

/** a * b + c rounded once, by exact integer arithmetic on the scaled values; finite operands. */
function fma(a: number, b: number, c: number): number {
  const parts = (x: number): [bigint, number] => {
    view.setFloat64(0, x);
    const bits = view.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 0x7ffn);
    const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
    return [x < 0 || Object.is(x, -0) ? -mantissa : mantissa, (exponent === 0 ? 1 : exponent) - 1075];
  };
  const [ma, ea] = parts(a);
  const [mb, eb] = parts(b);
  const [mc, ec] = parts(c);
  const e = Math.min(ea + eb, ec);
  const sum = ((ma * mb) << BigInt(ea + eb - e)) + (mc << BigInt(ec - e));
  if (sum === 0n) return a * b + c;
  const magnitude = sum < 0n ? -sum : sum;
  // Keep 24 bits, or fewer where the result is denormal (last bit 2^-149).
  const bits = magnitude.toString(2).length;
  const drop = Math.max(bits - 24, -149 - e);
  const unit = BigInt(Math.max(drop, 0));
  let kept = magnitude >> unit;
  const rest = magnitude - (kept << unit);
  const half = unit === 0n ? 0n : 1n << (unit - 1n);
  if (unit > 0n && (rest > half || (rest === half && (kept & 1n) === 1n))) kept += 1n;
  const value = Number(kept) * 2 ** Math.max(e + Number(unit), -1074);
  return Math.fround(sum < 0n ? -value : value);
}

/** f16 of the f32 `a`, what does not fit is cut off. */
function halfTowards0(a: number): number {
  const x = f(a);
  if (Number.isNaN(x)) return 0x7e00;
  const sign = a >>> 31 === 1 ? 0x8000 : 0;
  const size = Math.abs(x);
  if (size === Number.POSITIVE_INFINITY) return sign | 0x7c00;
  if (size >= 65504) return sign | 0x7bff;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  return sign | (((exponent + 14) << 10) + Math.floor(size * 2 ** (10 - exponent)));
}
const between = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

/** The meaning of each foldable op, from its prose in src/ir/ops.ts. Operands and result are unsigned words. */
const meaning: Record<string, (a: number, b: number, c: number) => number> = {
  select: (a, b, c) => (a ? b : c),
  iadd: (a, b) => a + b,
  isub: (a, b) => a - b,
  imul: (a, b) => Math.imul(a, b),
  umul_hi: (a, b) => Number((BigInt(a) * BigInt(b)) >> 32n),
  imul_hi: (a, b) => Number((BigInt(a | 0) * BigInt(b | 0)) >> 32n),
  ineg: (a) => -a,
  iabs: (a) => Math.abs(a | 0),
  iand: (a, b) => a & b,
  ior: (a, b) => a | b,
  ixor: (a, b) => a ^ b,
  inot: (a) => ~a,
  ishl: (a, b) => a << (b % 32),
  ishr: (a, b) => (a | 0) >> (b % 32),
  ushr: (a, b) => a >>> (b % 32),
  imin: (a, b) => Math.min(a | 0, b | 0),
  imax: (a, b) => Math.max(a | 0, b | 0),
  umin: (a, b) => Math.min(a, b),
  umax: (a, b) => Math.max(a, b),
  ubfe: (a, b, c) => (a >>> (b % 32)) % 2 ** (c % 32),
  ibfe: (a, b, c) => (c % 32 === 0 ? 0 : Number(BigInt.asIntN(c % 32, BigInt(a) >> BigInt(b % 32)))),
  bfm: (a, b) => Number((((1n << BigInt(a % 32)) - 1n) << BigInt(b % 32)) & 0xffffffffn),
  bfi: (a, b, c) => (a & b) | (~a & c),
  bitrev: (a) => Number.parseInt([...a.toString(2).padStart(32, "0")].reverse().join(""), 2),
  bitcount: (a) => a.toString(2).replaceAll("0", "").length,
  find_lsb: (a) => (a === 0 ? -1 : (/0*$/.exec(a.toString(2))?.[0].length ?? 0)),
  uffbh: (a) => (a === 0 ? -1 : 32 - a.toString(2).length),
  iffbh: (a) => {
    const bits = a.toString(2).padStart(32, "0");
    const run = /^(0+|1+)/.exec(bits)?.[0].length ?? 0;
    return run === 32 ? -1 : run;
  },
  ieq: (a, b) => +(a === b),
  ine: (a, b) => +(a !== b),
  ilt: (a, b) => +((a | 0) < (b | 0)),
  ige: (a, b) => +((a | 0) >= (b | 0)),
  ult: (a, b) => +(a < b),
  uge: (a, b) => +(a >= b),
  feq: (a, b) => +(f(a) === f(b)),
  fneu: (a, b) => +(f(a) !== f(b)),
  flt: (a, b) => +(f(a) < f(b)),
  fge: (a, b) => +(f(a) >= f(b)),
  udiv: (a, b) => (b === 0 ? -1 : Math.floor(a / b)),
  umod: (a, b) => (b === 0 ? a : a % b),
  idiv: (a, b) => (b === 0 ? -1 : Math.trunc((a | 0) / (b | 0))),
  irem: (a, b) => (b === 0 ? a : (a | 0) % (b | 0)),
  imod: (a, b) => (b === 0 ? a : (a | 0) - (b | 0) * Math.floor((a | 0) / (b | 0))),
  fadd: (a, b) => u(f(a) + f(b)),
  fsub: (a, b) => u(f(a) - f(b)),
  fmul: (a, b) => u(f(a) * f(b)),
  ffma: (a, b, c) => {
    const finite = [a, b, c].every((x) => Number.isFinite(f(x)));
    return u(finite ? fma(f(a), f(b), f(c)) : f(a) * f(b) + f(c));
  },
  fneg: (a) => a ^ 0x80000000,
  fabs: (a) => a & 0x7fffffff,
  ffloor: (a) => u(Math.floor(f(a))),
  fceil: (a) => u(Math.ceil(f(a))),
  ftrunc: (a) => u(Math.trunc(f(a))),
  fround_even: (a) => {
    const x = f(a);
    if (!Number.isFinite(x)) return u(x);
    const low = Math.floor(x);
    const up = x - low > 0.5 || (x - low === 0.5 && low % 2 !== 0);
    const r = up ? low + 1 : low;
    return r === 0 ? (a & 0x80000000) >>> 0 : u(r);
  },
  fmin: (a, b) => (Number.isNaN(f(a)) ? u(f(b)) : Number.isNaN(f(b)) ? a : u(Math.min(f(a), f(b)))),
  fmax: (a, b) => (Number.isNaN(f(a)) ? u(f(b)) : Number.isNaN(f(b)) ? a : u(Math.max(f(a), f(b)))),
  fsat: (a) => (f(a) > 0 ? u(Math.min(f(a), 1)) : 0),
  f2i: (a) => (Number.isNaN(f(a)) ? 0 : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(f(a))))),
  f2u: (a) => (Number.isNaN(f(a)) ? 0 : Math.max(0, Math.min(2 ** 32 - 1, Math.trunc(f(a))))),
  i2f: (a) => u(a | 0),
  u2f: (a) => u(a),
  f2f16: (a) => {
    const x = f(a);
    if (Number.isNaN(x)) return 0x7e00;
    const sign = a >>> 31 === 1 ? 0x8000 : 0;
    const size = Math.abs(x);
    if (size >= 65520) return sign | 0x7c00;
    const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
    const scaled = size * 2 ** (10 - exponent);
    const low = Math.floor(scaled);
    const up = scaled - low > 0.5 || (scaled - low === 0.5 && low % 2 === 1);
    return sign | (((exponent + 14) << 10) + low + Number(up));
  },
  f162f: (a) => {
    const [exponent, fraction] = [(a >>> 10) & 31, a & 0x3ff];
    const sign = a & 0x8000 ? -1 : 1;
    if (exponent === 31) return u(fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN);
    return u(exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25));
  },
  pack_half_rtz: (a, b) => halfTowards0(a) | (halfTowards0(b) << 16),
  pack_uint16: (a, b) => between(a, 0, 65535) | (between(b, 0, 65535) << 16),
  pack_sint16: (a, b) => (between(a | 0, -32768, 32767) & 0xffff) | ((between(b | 0, -32768, 32767) & 0xffff) << 16),
  b2i: (a) => a,
  b2f: (a) => (a ? 0x3f800000 : 0),
};

/** Zeros, ones, denormals, infinities, NaN, halves, limits, and words without pattern. */
const special = [
  0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000,
  0xc0200000, 0x7f800000, 0xff800000, 0x7fc00000, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000,
  0x4b7fffff,
];
const words = Array.from({ length: 60 }, (_, i) =>
  i < special.length ? (special[i] ?? 0) : Math.imul(i * i + 7, 0x9e3779b1) >>> 0,
);

describe("constant folding", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const row of opRows.filter((r) => r.flags & OpFlag.Foldable)) {
    it(`${row.name}: ${row.prose}`, () => {
      const oracle = meaning[row.name];
      if (oracle === undefined) throw new Error(`the test does not know ${row.name}`);
      const width = row.dst === "1" ? 1 : 32;
      const lines: string[] = [];
      const wanted: string[] = [];
      for (let k = 0; k < 150; k++) {
        const operands = row.srcs.map((_, n) => words[(k * (7 + 6 * n) + n * 11 + (k >> 3)) % words.length] ?? 0);
        const names = operands.map((bits, n) => {
          const isBool = row.srcs[n] === "1";
          lines.push(`  %c${k}_${n}:${isBool ? 1 : 32} = const ${isBool ? (bits & 1 ? "true" : "false") : bits}`);
          return `%c${k}_${n}`;
        });
        lines.push(`  %r${k}:${width} = ${row.name} ${names.join(", ")}`);
        lines.push(width === 1 ? `  %w${k}:32 = b2i %r${k}` : `  %w${k}:32 = iadd %r${k}, %c0_zero`);
        lines.push(
          `  store_ssbo %r${k}x, %c0_zero binding=0 set=0`.replace(`%r${k}x`, width === 1 ? `%w${k}` : `%r${k}`),
        );
        const [a = 0, b = 0, c = 0] = operands.map((bits, n) => (row.srcs[n] === "1" ? bits & 1 : bits));
        wanted.push(`0x${(oracle(a, b, c) >>> 0).toString(16).padStart(8, "0")}`);
      }
      const text = `shader compute "fold" wave32 local=1,1,1 {\nb0:\n  %c0_zero:32 = const 0\n${lines.join("\n")}\n  end\n}\n`;
      const result = core.runPass(text, "opt-const-fold");
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      // A boolean's b2i folds in the same walk, as the comparison before it does.
      const constants = new Map([...result.ir.matchAll(/(%\d+):32 = const (\w+)/g)].map((m) => [m[1], m[2]]));
      const stored = [...result.ir.matchAll(/store_ssbo (%\d+),/g)].map((m) => constants.get(m[1]));
      expect(stored).toEqual(wanted);
    });
  }
});
