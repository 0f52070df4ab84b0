/** What the integer fixtures compute, written again in TypeScript: input word, invocation → output word. */
type Meaning = (x: number, invocation: number) => number;

const u32 = (value: number): number => value >>> 0;
const mul = (a: number, b: number): number => Math.imul(a, b) >>> 0;

function bits(x: number, offset: number, count: number): number {
  return count === 0 ? 0 : (x >>> offset) & (2 ** count - 1);
}

function reversed(x: number): number {
  let result = 0;
  for (let at = 0; at < 32; at++) if ((x >>> at) & 1) result |= 1 << (31 - at);
  return u32(result);
}

function highestBit(x: number): number {
  return 31 - Math.clz32(x);
}

const wide = (x: bigint, shift: bigint): number => Number(BigInt.asUintN(32, x >> shift));

function classify(start: number): number {
  let v = start;
  if (v === 0) return 0;
  for (let k = 1; k < 8; k++) {
    if (v < 1 << k) return k;
    if ((v & 3) === 3) return 100 + k;
    v = u32(v - 1);
  }
  return 99;
}

export const meanings: Readonly<Record<string, Meaning>> = {
  copy: (x) => x,
  collatz: (x) => {
    let n = u32(x | 1);
    let steps = 0;
    for (; n !== 1 && steps < 200; steps++) n = n % 2 === 0 ? n >>> 1 : u32(mul(3, n) + 1);
    return steps;
  },
  nested_if: (v) => {
    if (v < 16) return v < 8 ? (v < 4 ? 1 : 2) : 3;
    if (v < 64) return 4 + (v % 2) * 10;
    return v === 77 ? 5 : 6;
  },
  switch_fallthrough: (x) => [1, 12, 10, 1100, 1100, 7, 1000][x % 7]!,
  switch_in_loop: (x) => {
    let acc = 0;
    for (let k = 0; k < 12; k++) {
      const which = u32(x + k) & 3;
      if (which === 0) continue;
      if (which === 1) acc += k;
      else if (which === 2) acc ^= 0x55;
      else acc += 3;
      if (acc > 500) break;
      acc += 1;
    }
    return acc;
  },
  do_while: (x) => {
    let a = u32(x + 1);
    let b = 360;
    do [a, b] = [b, a % b];
    while (b !== 0);
    return a;
  },
  nested_loops: (x) => {
    let count = 0;
    for (let a = 0; a < 5; a++) {
      for (let b = a; b < 6; b++) {
        if (((x >>> a) & (x >>> b) & 1) === 0) continue;
        if (a * b > 12) break;
        count += a + b;
      }
    }
    return count;
  },
  early_return: (x) => classify(x),
  prototypes: (n) => (n === 0 ? 1 : (n & 1) + 1),
  local_arrays: (x) => {
    const digits = Array.from({ length: 8 }, (_, k) => (x >>> (4 * k)) & 15).sort((a, b) => a - b);
    return u32(digits.reduce((sum, digit, k) => sum | (digit << (4 * k)), 0));
  },
  const_table: (x) => {
    const primes = [2, 3, 5, 7, 11, 13, 17, 19];
    return primes[x & 7]! + 1 + (x & 1) * 3 + (x % 3) + 8;
  },
  integer_ops: (u) => {
    let s = (u | 0) - 1000;
    s |= 0;
    let r = u32(mul(u, 3) + Math.floor(u / 7) - (u % 5));
    r = u32(r ^ (u << 3));
    r = u32(r | (u >>> 2));
    r = u32(r & ~(u & 0xf0));
    s = (Math.imul(-s, 2) + Math.trunc(s / 3)) | 0;
    s >>= 1;
    s = (s + (s < 0 ? -1 : 1)) | 0;
    r = u32(r + s);
    r = u32(r - (s === -1 ? 1 : 0) - (s >= 5 ? 1 : 0));
    // r++ gives r, then --r brings it back to r
    return u32(r + r);
  },
  integer_builtins: (u) => {
    const s = u | 0;
    const sum = u + 0xfffffff0;
    const product = BigInt(u) * 0x12345678n;
    const signed = BigInt(s) * -77777n;
    let r = bits(u, 4, 8) + (s >> 28);
    const inserted = (u & ~0x60) | (3 << 5);
    r += u32(inserted ^ reversed(u));
    r += [...u.toString(2)].filter((digit) => digit === "1").length;
    r += u === 0 ? -1 : highestBit(u & -u);
    r += u === 0 ? -1 : highestBit(u);
    r += s === 0 || s === -1 ? -1 : highestBit(s < 0 ? ~s : s);
    r += u32(sum) + (sum > 0xffffffff ? 1 : 0) + u32(5 - u) + (5 < u ? 1 : 0);
    r += wide(product, 32n) + wide(product, 0n) + wide(signed, 32n) + wide(signed, 0n);
    r += Math.abs(s) + Math.sign(s) + Math.min(u, 100) + u32(Math.max(s, -3)) + Math.min(Math.max(u, 5), 50);
    return Number(BigInt.asUintN(32, BigInt(r)));
  },
  short_circuit: (v) => {
    let calls = 0;
    const touch = (x: number): boolean => {
      calls++;
      return (x & 1) === 1;
    };
    const a = (touch(v) && touch(v >>> 1)) || touch(v >>> 2);
    const b = v > 100 !== touch(v >>> 3);
    const r = a && v < 1000 ? (b ? 1 : 2) : touch(v >>> 4) ? 3 : 4;
    return r + 16 * calls;
  },
  comma_and_scopes: (x) => {
    let r = 7 + 3 + 5 + 3;
    for (let i = 0, j = 10; i < j; i++, j -= 2) r += i * j;
    r += 1;
    return u32(r * 2 + 7 + x);
  },
  while_declares: (x) => {
    let r = [...x.toString(2)].length;
    if (x === 0) r = 0;
    while (r <= 20) r += 7;
    return r;
  },
};

/** Fixtures that work on whole groups of 64: all inputs of the group to all its outputs. */
export const groupMeanings: Readonly<Record<string, (group: readonly number[]) => number[]>> = {
  shared_reverse: (group) => group.toReversed(),
  shared_scan: (group) => {
    let sum = 0;
    return group.map((x) => {
      sum = u32(sum + x);
      return sum;
    });
  },
};

/** Float fixtures on small whole numbers and halves, where every step is exact and any order gives the same. */
export const floatMeanings: Readonly<Record<string, Meaning>> = {
  swizzles: (x) => {
    // v = (x, 2, 3, 4); v.zx = (x + 1, 3); v.yw *= 2; v.bgr = v.rgb swaps the ends
    const v = [x + 1, 4, 3, 8];
    const s = [v[2]! + 1, v[1]!];
    return s[0]! + s[1]! * 10 + v[3]! * 100 + v[0]! + (v[1]! - 1);
  },
  vector_index: (x) => {
    const v = [1, 2, 4, 8];
    const k = x & 3;
    v[k]! += 0.5;
    v[2] = 16;
    return v[3 - k]! + v[k]!;
  },
  functions_out_params: (x) => {
    const sum = 0.5 + (x - Math.floor(x)) + (3 * x - Math.floor(3 * x));
    return Math.floor(3 * x) * 2 + sum + 6;
  },
  array_of_arrays: (x) => x * 3 + x * 5 - x * 1,
  global_initializers: (x) => 0.5 * 3 + 1 + 1 + x,
  relational: (x) => {
    const a = [x, 1, 2];
    const b = [0.5, 1, 3];
    const less = a.map((value, at) => value < b[at]!);
    const same = a.map((value, at) => value === b[at]!);
    let r = less.some(Boolean) ? 1 : 0;
    r += same.every(Boolean) ? 2 : 0;
    // ivec3(a).y and ivec3(b).y are both 1
    r += 4;
    r += (x >= 0.5 ? 8 : 0) + 16;
    r += a.every((value, at) => value === b[at]!) ? 64 : 0;
    r += less.some((value, at) => value !== same[at]!) ? 128 : 0;
    return r + (less[0] ? 0.5 : x);
  },
};

/** As above on whole numbers only: halves would need more digits than a float has. */
export const wholeMeanings: Readonly<Record<string, Meaning>> = {
  matrices: (a) => {
    // columns first: m[column][row]
    const m = [
      [a, 1, 2],
      [3, a, 4],
      [5, 6, a],
    ];
    const dot = (p: readonly number[], q: readonly number[]): number =>
      p.reduce((sum, each, at) => sum + each * q[at]!, 0);
    const row = (of: readonly (readonly number[])[], at: number): number[] => of.map((column) => column[at]!);
    // transpose(m) * m: element (column c, row r) is the product of m's columns r and c
    const n = [0, 1, 2].map((c) => [0, 1, 2].map((r) => dot(m[r]!, m[c]!) - (r === c ? 2 : 0)));
    const v = [0, 1, 2].map((r) => dot(row(n, r), [1, a, -1]));
    const w = [0, 1, 2].map((c) => dot(v, m[c]!));
    m[1] = w;
    m[2]![0]! += 0.5;
    m[2]![1] = a;
    const h = m.map((column) => column.map((each) => each / 2));
    // r[1][2] is c.z * r.y = 3 and r[0].y is c.y * r.x = 2a
    return dot(h[1]!, v) + 3 + 2 * a + (h[0]![0]! * h[1]![1]! - h[1]![0]! * h[0]![1]!) - h[0]![0]!;
  },
};

/** The same for a fixture that works on whole groups. */
export const floatGroupMeanings: Readonly<Record<string, (group: readonly number[]) => number[]>> = {
  shared_struct: (group) => group.map((_, at) => group[(at + 1) % 64]! + 4 * ((at + 1) % 64)),
};
