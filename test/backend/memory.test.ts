import { beforeAll, describe, expect, it } from "vitest";
import { type BackEnd, type EmitOptions, emitted, loadBackEnd } from "./module.ts";
import { Simulator } from "./simulate.ts";

let backEnd: BackEnd;
let simulator: Simulator;
beforeAll(() => {
  backEnd = loadBackEnd();
  simulator = new Simulator();
});

const head = (lds = 0, x = 64) => `shader compute "main" wave32 local=${x},1,1${lds > 0 ? ` lds=${lds}` : ""} {\nb0:\n`;

interface Case {
  readonly body: string;
  readonly buffers: readonly Uint32Array[];
  readonly push?: readonly number[];
  readonly ldsBytes?: number;
  readonly groups?: number;
  readonly local?: number;
  readonly options?: EmitOptions;
}

function run({ body, buffers, push = [], ldsBytes = 0, groups = 1, local = 64, options }: Case): Uint32Array[] {
  const result = emitted(backEnd.emit(`${head(ldsBytes, local)}${body}\n  end\n}\n`, options));
  return simulator.run({
    emitted: result,
    local: [local, 1, 1],
    groups: [groups, 1, 1],
    groupIds: [/load_workgroup_id component=0/.test(body), false, false],
    ldsBytes,
    push,
    buffers,
  });
}

const iota = (n: number, f: (k: number) => number = (k) => k): Uint32Array =>
  Uint32Array.from({ length: n }, (_, k) => f(k));

/** Lane id, and its byte offset in arrays of one and four dwords. */
const lanes = `
  %zero:32 = const 0
  %two:32 = const 2
  %four:32 = const 4
  %l:32 = load_local_id component=0 div
  %o:32 = ishl %l, %two div
  %o4:32 = ishl %l, %four div`;

describe("far branches", () => {
  it("reach over a body of more than 64k dwords: uniform and divergent ifs, a loop back", () => {
    // x = x * 3 + 1, 18000 times in then: three dwords or more each time; two rounds of the loop.
    const steps = 18_000;
    const chain = Array.from({ length: steps }, (_, k) => {
      const from = k === 0 ? "%x" : `%c${k - 1}`;
      return `      %m${k}:32 = imul %big, ${from} div\n      %c${k}:32 = iadd %m${k}, %one div`;
    }).join("\n");
    const [, out] = run({
      body: `${lanes}
  %one:32 = const 1
  %big:32 = const 1000003
  %n:32 = load_push base=0
loop {
  b1: preds b0 b9
    %i:32 = phi %zero, %i2
    %x:32 = phi %l, %x2 div
    %more:1 = ult %i, %n
  if %more {
    b2:
  } else {
    b3:
      break
  }
  b4:
    %odd:32 = iand %l, %one div
    %isOdd:1 = ieq %odd, %one div
  if %isOdd div {
    b5:
${chain}
  } else {
    b6:
  }
  b7: preds b5 b6
    %y:32 = phi %c${steps - 1}, %x div
} cont {
  b9:
    %x2:32 = iadd %y, %one div
    %i2:32 = iadd %i, %one
}
b10:
  store_ssbo %x, %o set=0 binding=1 base=0`,
      push: [2],
      buffers: [iota(1), new Uint32Array(64)],
    });
    for (let k = 0; k < 64; k++) {
      let x = k;
      for (let round = 0; round < 2; round++) {
        if (k & 1) for (let s = 0; s < steps; s++) x = (Math.imul(x, 1000003) + 1) >>> 0;
        x = (x + 1) >>> 0;
      }
      expect(out?.[k]).toBe(x);
    }
  });
});

describe("buffers", () => {
  it("loads and stores vectors of 1 to 4 dwords with an immediate base", () => {
    const [, out] = run({
      body: `${lanes}
  %v:32x3 = load_ssbo %o4 set=0 binding=0 base=4 div
  %x:32 = extract %v index=0 div
  %y:32 = extract %v index=1 div
  %z:32 = extract %v index=2 div
  %w:32 = iadd %x, %z div
  %t:32x4 = vec %z, %y, %x, %w div
  store_ssbo %t, %o4 set=0 binding=1 base=0`,
      buffers: [iota(256), new Uint32Array(256)],
    });
    for (let k = 0; k < 64; k++) {
      expect([...(out?.slice(4 * k, 4 * k + 4) ?? [])]).toEqual([4 * k + 3, 4 * k + 2, 4 * k + 1, 8 * k + 4]);
    }
  });

  it("reads 0 and drops writes out of range, dword by dword, also for bases beyond the 12-bit field", () => {
    const [data, out] = run({
      body: `${lanes}
  %a:32x2 = load_ssbo %o4 set=0 binding=0 base=8 div
  %x:32 = extract %a index=0 div
  %y:32 = extract %a index=1 div
  %far:32x1 = load_ssbo %o set=0 binding=0 base=8192 div
  %near:32x1 = load_ssbo %o set=0 binding=0 base=4294967040 div
  %s:32 = ior %x, %y div
  %s1:32 = ior %far, %near div
  %r:32x2 = vec %s, %s1 div
  %o2:32 = iadd %o, %o div
  store_ssbo %l, %o set=0 binding=0 base=8192
  store_ssbo %r, %o2 set=0 binding=1 base=0`,
      buffers: [iota(64, (k) => k + 1), new Uint32Array(128)],
    });
    // Lane k reads dwords 4k + 2 and 4k + 3 of 64; nothing stands at 8192, nor at 2^32 - 256 + 4k (no wrap).
    for (let k = 0; k < 64; k++) {
      const at = (d: number): number => (d < 64 ? d + 1 : 0);
      expect(out?.[2 * k]).toBe(at(4 * k + 2) | at(4 * k + 3));
      expect(out?.[2 * k + 1]).toBe(0);
    }
    expect(data).toEqual(iota(64, (k) => k + 1));
  });

  it("sends uniform loads of data nobody writes through the scalar cache", () => {
    const body = `${lanes}
  %i:32 = load_push base=0
  %io:32 = ishl %i, %two
  %u:32x4 = load_ubo %io set=0 binding=0 base=4
  %a:32 = extract %u index=0
  %d:32 = extract %u index=3
  %s:32x1 = load_ssbo %io set=0 binding=0 base=0 nonwritable
  %sum:32 = iadd %a, %d
  %sum2:32 = iadd %sum, %s
  %r:32 = iadd %sum2, %l div
  store_ssbo %r, %o set=0 binding=1 base=0`;
    const [, out] = run({ body, push: [5], buffers: [iota(16, (k) => 100 * k), new Uint32Array(64)] });
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(600 + 900 + 500 + k);
  });

  it("does not read through the scalar cache what the invocation may have written", () => {
    const [, out] = run({
      body: `${lanes}
  %seven:32 = const 7
  store_ssbo %seven, %zero set=0 binding=0 base=0
  memory_barrier scope=1 storage=1
  %s:32x1 = load_ssbo %zero set=0 binding=0 base=0
  store_ssbo %s, %o set=0 binding=1 base=0`,
      buffers: [iota(16), new Uint32Array(64)],
    });
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(7);
  });

  it("loads by SMEM only from buffers that the shader writes nowhere, before or behind, and with what is constant as its offset", () => {
    /** Byte offsets of the `s_buffer_load_dword` (SMEM, opcode 8) that read a uniform word of binding 0. */
    const offsets = (body: string): number[] => {
      const { code } = emitted(backEnd.emit(`${head()}${lanes}${body}\n  end\n}\n`));
      return [...code].flatMap((word, k) =>
        (word & 0xfffc0000) >>> 0 === 0xf4200000 ? [(code[k + 1] ?? 0) & 0x1fffff] : [],
      );
    };
    const load = "\n  %s:32x1 = load_ssbo %zero set=0 binding=0 base=1096";
    const use = "\n  store_ssbo %s, %o set=0 binding=1 base=0";
    expect(offsets(load + use)).toEqual([1096]);
    expect(offsets(`\n  barrier scope=2 storage=1${load}${use}`)).toEqual([1096]);
    expect(offsets(`\n  store_ssbo %l, %o set=0 binding=0 base=0${load}${use}`)).toEqual([]);
    // A vector store behind it does not wait for a scalar load.
    expect(offsets(`${load}${use}\n  store_ssbo %l, %o set=0 binding=0 base=0`)).toEqual([]);
    expect(offsets(`${load}${use}\n  %x:32 = ssbo_atomic %zero, %l set=0 binding=0 base=0 atomic=add div`)).toEqual([]);
    expect(offsets(`\n  %s:32x1 = load_ssbo %zero set=0 binding=0 base=1096 coherent${use}`)).toEqual([]);
    expect(offsets(`\n  %s:32x1 = load_ssbo %zero set=0 binding=0 base=1096 aliased${use}`)).toEqual([]);
  });

  it("gives the size of the bound range", () => {
    const [, out] = run({
      body: `${lanes}
  %n:32 = ssbo_size set=0 binding=0
  store_ssbo %n, %o set=0 binding=1 base=0`,
      buffers: [iota(37), new Uint32Array(64)],
    });
    expect(out?.[63]).toBe(148);
  });

  it("selects array elements, constant and uniform; an index out of range stays in the array", () => {
    const element = (k: string) =>
      run({
        body: `${lanes}
  %i:32 = load_push base=0
  %one:32 = const 1
  %a:32x1 = load_ssbo %zero, ${k} set=0 binding=12 base=0
  store_ssbo %a, %o set=0 binding=1 base=0`,
        push: [3],
        buffers: [
          ...Array.from({ length: 12 }, () => new Uint32Array(64)),
          ...Array.from({ length: 4 }, (_, e) => iota(1, () => 50 + e)),
        ],
      })[1]?.[9];
    expect(element("%one")).toBe(51);
    expect(element("%i")).toBe(53);
    expect(element("%four")).toBe(53);
  });

  it("takes an element that differs from lane to lane, for loads, stores, atomics and sizes", () => {
    const buffers = [
      ...Array.from({ length: 12 }, () => new Uint32Array(64)),
      ...Array.from({ length: 4 }, (_, e) => iota(64 + 16 * e, (k) => 1000 * e + k)),
    ];
    const done = run({
      body: `${lanes}
  %three:32 = const 3
  %e0:32 = imul %l, %l div
  %e1:32 = ushr %e0, %two div
  %e:32 = iand %e1, %three div
  %a:32x1 = load_ssbo %o, %e set=0 binding=12 base=0 div nonuniform
  %n:32 = ssbo_size %e set=0 binding=12 div nonuniform
  %r:32x2 = vec %a, %n div
  %o2:32 = iadd %o, %o div
  store_ssbo %r, %o2 set=0 binding=1 base=0
  %w:32 = iadd %a, %l div
  store_ssbo %w, %o, %e set=0 binding=12 base=0 nonuniform
  %old:32 = ssbo_atomic %o, %three, %e set=0 binding=12 base=0 atomic=add div nonuniform
  store_ssbo %old, %o set=0 binding=2 base=0`,
      buffers: buffers.map((b, k) => (k === 1 ? new Uint32Array(128) : b)),
    });
    for (let k = 0; k < 64; k++) {
      const e = ((k * k) >> 2) & 3;
      expect([done[1]?.[2 * k], done[1]?.[2 * k + 1]]).toEqual([1000 * e + k, (64 + 16 * e) * 4]);
      expect(done[2]?.[k]).toBe(1000 * e + 2 * k);
      for (let b = 0; b < 4; b++) expect(done[12 + b]?.[k]).toBe(1000 * b + k + (b === e ? k + 3 : 0));
    }
  });

  it("does atomics, with and without the old value", () => {
    const [sum, old, swap] = run({
      body: `${lanes}
  %one:32 = const 1
  %m:32 = ssbo_atomic %zero, %l set=0 binding=0 base=0 atomic=add div
  %n:32 = ssbo_atomic %zero, %one set=0 binding=0 base=4 atomic=add div
  %no:32 = ishl %n, %two div
  store_ssbo %one, %no set=0 binding=1 base=0
  %c:32 = ssbo_atomic_cmpswap %o, %l, %four set=0 binding=2 base=0 div`,
      buffers: [new Uint32Array(2), new Uint32Array(64), iota(64, (k) => (k % 2 === 0 ? k : 1000))],
    });
    expect([...(sum ?? [])]).toEqual([2016, 64]);
    // Each invocation got a counter value of its own.
    expect(old?.every((x) => x === 1)).toBe(true);
    for (let k = 0; k < 64; k++) expect(swap?.[k]).toBe(k % 2 === 0 ? 4 : 1000);
  });

  it("orders signed and unsigned minimum and maximum apart", () => {
    const [out] = run({
      body: `${lanes}
  %minus:32 = const 4294967295
  %a:32 = ssbo_atomic %zero, %minus set=0 binding=0 base=0 atomic=imin div
  %b:32 = ssbo_atomic %zero, %minus set=0 binding=0 base=4 atomic=umin div
  %c:32 = ssbo_atomic %zero, %minus set=0 binding=0 base=8 atomic=imax div
  %d:32 = ssbo_atomic %zero, %minus set=0 binding=0 base=12 atomic=umax div
  %e:32 = ssbo_atomic %zero, %two set=0 binding=0 base=16 atomic=xor div
  %f:32 = ssbo_atomic %zero, %two set=0 binding=0 base=20 atomic=or div
  %g:32 = ssbo_atomic %zero, %two set=0 binding=0 base=24 atomic=and div
  %h:32 = ssbo_atomic %zero, %two set=0 binding=0 base=28 atomic=swap div`,
      buffers: [Uint32Array.from([5, 5, 5, 5, 5, 5, 7, 5])],
    });
    expect([...(out ?? [])]).toEqual([0xffffffff, 5, 5, 0xffffffff, 5, 7, 2, 2]);
  });
});

describe("push constants", () => {
  const sum = (dwords: readonly number[], dynamic = false) =>
    `${lanes}
  %acc0:32 = const 0
${dwords.map((d, k) => `  %p${k}:32 = load_push base=${d * 4}\n  %acc${k + 1}:32 = iadd %acc${k}, %p${k}`).join("\n")}
  ${dynamic ? `%q:32 = load_push %o base=0 div` : `%q:32 = iadd %l, %zero div`}
  %r:32 = iadd %q, %acc${dwords.length} div
  store_ssbo %r, %o set=0 binding=0 base=0`;

  it("are inlined when few", () => {
    const [out] = run({ body: sum([1, 3]), push: [1, 10, 100, 1000], buffers: [new Uint32Array(64)] });
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(1010 + k);
  });
  it("come through a pointer when too many", () => {
    const push = iota(20, (k) => 2 ** k);
    const [out] = run({ body: sum([...push.keys()]), push: [...push], buffers: [new Uint32Array(64)] });
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(2 ** 20 - 1 + k);
  });
  it("take a divergent index", () => {
    const push = iota(64, (k) => 3 * k);
    const [out] = run({ body: sum([2], true), push: [...push], buffers: [new Uint32Array(64)] });
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(6 + 3 * k);
  });
});

describe("workgroup memory", () => {
  it("moves 1 to 4 dwords, aligned or not, and exchanges them at a barrier", () => {
    const [out] = run({
      ldsBytes: 4096,
      body: `${lanes}
  %c63:32 = const 63
  %back:32 = isub %c63, %l div
  %b4:32 = ishl %back, %four div
  %x1:32 = iadd %l, %two div
  %v:32x4 = vec %l, %x1, %o, %o4 div
  store_shared %v, %o4 base=16
  barrier scope=2 storage=2
  %q:32x4 = load_shared %b4 base=16 div
  %t:32x3 = load_shared %b4 base=20 div
  %p:32x2 = load_shared %b4 base=24 div
  %s:32x1 = load_shared %b4 base=28 div
  %q0:32 = extract %q index=0 div
  %q3:32 = extract %q index=3 div
  %t0:32 = extract %t index=0 div
  %t2:32 = extract %t index=2 div
  %p1:32 = extract %p index=1 div
  %s1:32 = iadd %q0, %t0 div
  %s2:32 = ixor %q3, %t2 div
  %s3:32 = ixor %p1, %s div
  %s4:32 = iadd %s1, %s2 div
  %s5:32 = iadd %s4, %s3 div
  store_ssbo %s5, %o set=0 binding=0 base=0`,
      buffers: [new Uint32Array(64)],
    });
    // The two pairs of equal dwords cancel: what is left is lane + (lane + 2) of the lane opposite.
    for (let k = 0; k < 64; k++) expect(out?.[k]).toBe(63 - k + (63 - k) + 2);
  });

  it("does atomics", () => {
    const [out] = run({
      ldsBytes: 16,
      body: `${lanes}
  %one:32 = const 1
  store_shared %zero, %zero base=0
  store_shared %zero, %zero base=4
  barrier scope=2 storage=2
  %a:32 = shared_atomic %zero, %l base=0 atomic=add div
  %b:32 = shared_atomic %zero, %one base=4 atomic=add div
  %bo:32 = ishl %b, %two div
  barrier scope=2 storage=2
  %sum:32x1 = load_shared %zero base=0
  store_ssbo %sum, %bo set=0 binding=0 base=0
  barrier scope=2 storage=2
  %c:32 = shared_atomic_cmpswap %zero, %sum, %one base=0 div`,
      buffers: [new Uint32Array(64)],
    });
    expect(out?.every((x) => x === 2016)).toBe(true);
  });
});
