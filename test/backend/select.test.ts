import { beforeAll, describe, expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { oracle, runOracle } from "../oracles.ts";
import { generateProgram } from "./generate.ts";
import { type BackEnd, type EmitOptions, emitted, loadBackEnd } from "./module.ts";

let backEnd: BackEnd;
beforeAll(() => {
  backEnd = loadBackEnd();
});

const wrap = (body: string, x = 64): string =>
  `shader compute "main" wave32 local=${x},1,1 {\nb0:\n  %zero:32 = const 0\n  %one:32 = const 1\n  %two:32 = const 2\n  %l:32 = load_local_id component=0 div\n  %o:32 = ishl %l, %two div\n${body}\n  end\n}\n`;

/** Instructions of a compiled body, without the entry's own. */
function text(body: string, options?: EmitOptions, x?: number): string[] {
  const { code } = emitted(backEnd.emit(wrap(body, x), options));
  return disassemble(code).map((line) => line.text.trim());
}
const store = (value: string): string => `  store_ssbo %${value}, %o set=0 binding=1 base=0`;
const load = (name: string, binding = 0, base = 0): string =>
  `  %${name}:32x1 = load_ssbo %o set=0 binding=${binding} base=${base} div`;
const count = (lines: readonly string[], pattern: RegExp): number => lines.filter((l) => pattern.test(l)).length;
const after = (lines: readonly string[], pattern: RegExp): string =>
  lines[lines.findIndex((l) => pattern.test(l)) + 1] ?? "";

describe("selection", () => {
  it("keeps uniform integers in SALU and divergent ones in VALU", () => {
    const lines = text(`  %w:32 = load_workgroup_id component=0
  %p:32 = load_push base=0
  %u:32 = imul %w, %p
  %v:32 = imul %u, %l div
${store("v")}`);
    expect(count(lines, /^s_mul_i32/)).toBe(1);
    expect(count(lines, /^v_mul_lo_u32/)).toBe(1);
  });

  it("folds neg and abs into float sources and fsat into clamp", () => {
    const lines = text(`${load("x")}
  %n:32 = fneg %x div
  %a:32 = fabs %n div
  %m:32 = fmul %n, %a div
  %s:32 = fsat %m div
${store("s")}`);
    // |-x| is |x|: one multiplication does it all.
    expect(lines.filter((l) => l.startsWith("v_mul"))).toEqual([
      expect.stringMatching(/^v_mul_f32_e64 v\d+, -v(\d+), \|v\1\| clamp$/),
    ]);
    expect(count(lines, /v_xor|v_and|v_max/)).toBe(0);
  });

  it("forms v_lshl_add, v_add3, v_add_lshl, v_and_or, v_mad_u32_u24 where the inner value has one reader", () => {
    const lines = text(`${load("x")}
${load("y", 2)}
  %c:32 = const 24
  %k:32 = const 255
  %s:32 = ishl %x, %two div
  %a:32 = iadd %s, %y div
  %b0:32 = iadd %a, %x div
  %b:32 = iadd %b0, %y div
  %d0:32 = iadd %b, %x div
  %d:32 = ishl %d0, %two div
  %e0:32 = iand %d, %k div
  %e:32 = ior %e0, %y div
  %q:32 = imul %l, %c div
  %r:32 = iadd %q, %e div
${store("r")}`);
    for (const op of ["v_lshl_add_u32", "v_add3_u32", "v_add_lshl_u32", "v_and_or_b32", "v_mad_u32_u24"]) {
      expect(count(lines, new RegExp(`^${op} `)), op).toBe(1);
    }
    expect(count(lines, /^v_mul/)).toBe(0);
  });

  it("forms v_alignbit of shifts that make a rotation or join two words, and v_xor3", () => {
    const align = (body: string): readonly string[] =>
      text(`${load("x")}\n${load("y", 2)}\n${body}\n${store("r")}`).filter((l) =>
        /^v_(alignbit|xor3|lsh|or|sub)/.test(l),
      );
    const shifts = (up: string, down: string, a = "x", b = "x"): string =>
      `  %u:32 = ishl %${a}, %${up} div\n  %d:32 = ushr %${b}, %${down} div\n  %r:32 = ior %d, %u div`;
    const counts = "  %eight:32 = const 8\n  %c24:32 = const 24\n  %c32:32 = const 32\n  %n:32 = isub %c32, %l div\n";
    const one = (lines: readonly string[]): string => (lines.length === 1 ? (lines[0] ?? "") : lines.join("; "));
    const offset = /^v_lshlrev_b32_e32 v\d+, 2, v0$/;
    const only = (body: string): string => one(align(counts + body).filter((l) => !offset.test(l)));
    expect(only(shifts("eight", "c24"))).toMatch(/^v_alignbit_b32 v\d+, (v\d+), \1, 24$/);
    expect(only(shifts("eight", "c24", "x", "y"))).toMatch(/^v_alignbit_b32 v\d+, v\d+, v\d+, 24$/);
    expect(only(shifts("l", "n"))).toMatch(/^v_sub_nc_u32_e32 (v\d+), 32, v0; v_alignbit_b32 v\d+, (v\d+), \2, \1$/);
    // Counts by which the shifts do not make up a word, and different words by a count that may be 0.
    expect(only(shifts("eight", "eight"))).not.toMatch(/alignbit/);
    expect(only(shifts("l", "n", "x", "y"))).not.toMatch(/alignbit/);
    expect(only("  %u:32 = ixor %x, %y div\n  %r:32 = ixor %l, %u div")).toMatch(/^v_xor3_b32 /);
  });

  it("does not fuse a value that others read", () => {
    const lines = text(`${load("x")}
  %s:32 = ishl %x, %two div
  %a:32 = iadd %s, %l div
  %b:32 = ixor %a, %s div
${store("b")}`);
    expect(count(lines, /^v_lshl_add/)).toBe(0);
  });

  it("obeys the literal rule and the constant-bus limit", () => {
    // Three different scalars, then two different literals: one of each goes through a VGPR.
    const lines = text(`  %p:32 = load_push base=0
  %q:32 = load_push base=4
  %r:32 = load_push base=8
${load("x")}
  %f:32 = ffma %p, %q, %r
  %k1:32 = const 0x12345678
  %k2:32 = const 0x23456789
  %g:32 = ffma %x, %k1, %k2 div
  %h:32 = fadd %f, %g div
${store("h")}`);
    for (const line of lines.filter((l) => l.startsWith("v_"))) {
      const scalars = new Set(line.match(/\bs\d+\b|0x[0-9a-f]{5,}/g) ?? []);
      expect(scalars.size, line).toBeLessThanOrEqual(2);
      expect(new Set(line.match(/0x[0-9a-f]{5,}/g) ?? []).size, line).toBeLessThanOrEqual(1);
    }
  });

  it("accumulates in place with v_fmac", () => {
    const lines = text(`${load("x")}
${load("y", 2)}
  %f:32 = ffma %x, %x, %y div
${store("f")}`);
    expect(count(lines, /^v_fmac_f32_e32/)).toBe(1);
  });

  it("builds store data in place", () => {
    const lines = text(`${load("x")}
  %a:32 = fmul %x, %x div
  %b:32 = fadd %x, %a div
  %v:32x2 = vec %a, %b div
  %o2:32 = ishl %o, %one div
  store_ssbo %v, %o2 set=0 binding=1 base=0`);
    expect(count(lines, /^v_mov/)).toBe(0);
    expect(count(lines, /^buffer_store_dwordx2/)).toBe(1);
  });
});

describe("addresses", () => {
  it("keep soffset 0 with robust buffers and use it without", () => {
    const body = `  %w:32 = load_workgroup_id component=0
  %wo:32 = ishl %w, %two
  store_ssbo %l, %wo set=0 binding=1 base=16`;
    expect(text(body).find((l) => l.startsWith("buffer_store"))).toMatch(
      /^buffer_store_dword v\d+, v\d+, s\[\d+:\d+\], 0 offen offset:16$/,
    );
    expect(text(body, { robust: false }).find((l) => l.startsWith("buffer_store"))).toMatch(
      /^buffer_store_dword v\d+, off, s\[\d+:\d+\], s\d+ offset:16$/,
    );
  });

  it("saturate a base beyond 12 bits", () => {
    const lines = text(`${load("x", 0, 5000)}\n${store("x")}`);
    expect(
      count(lines, /^v_add_nc_u32_e64 v\d+, 0x1388, v\d+ clamp$|^v_add_nc_u32_e64 v\d+, v\d+, 0x1388 clamp$/),
    ).toBe(1);
  });
});

describe("addresses in memory", () => {
  const word = (address: string, offset: string, base = 0): string =>
    `  %x:32 = load_ssbo %${offset}, %${address} set=4294967295 binding=0 base=${base} div`;
  const uniform = `  %p:32x2 = load_push base=0`;
  const divergent = `  %p:32x2 = load_ssbo %o set=0 binding=0 base=0 div`;

  it("stay in SGPRs where they are uniform, with a VGPR for the offset, for loads, stores and atomics", () => {
    const lines = text(`${uniform}
${word("p", "o", 16)}
  store_ssbo %x, %o, %p set=4294967295 binding=0 base=32
  %old:32 = ssbo_atomic %o, %x, %p set=4294967295 binding=0 base=0 atomic=0 div
${store("old")}`).filter((l) => l.startsWith("global_"));
    expect(lines).toEqual([
      expect.stringMatching(/^global_load_dword v\d+, v\d+, s\[\d+:\d+\] offset:16$/),
      expect.stringMatching(/^global_store_dword v\d+, v\d+, s\[\d+:\d+\] offset:32$/),
      expect.stringMatching(/^global_atomic_add v\d+, v\d+, v\d+, s\[\d+:\d+\] glc$/),
    ]);
  });

  it("take one register of zeros where nothing else is added", () => {
    const lines = text(`${uniform}\n${word("p", "zero")}\n${store("x")}`);
    const at = lines.findIndex((l) => l.startsWith("global_load"));
    const zero = /, (v\d+), s\[/.exec(lines[at] ?? "")?.[1];
    expect(lines.slice(0, at)).toContain(`v_mov_b32_e32 ${zero}, 0`);
    expect(count(lines, /^v_mov_b32/)).toBe(1);
  });

  it("that differ from lane to lane are added with carry", () => {
    const lines = text(`${divergent}\n${word("p", "o")}\n${store("x")}`);
    expect(lines.filter((l) => /^(v_add|v_cmp|v_cndmask|global)/.test(l))).toEqual([
      expect.stringMatching(/^v_add_co_u32 v\d+, vcc_lo, v\d+, v\d+$/),
      expect.stringMatching(/^v_add_co_ci_u32_e32 v\d+, vcc_lo, 0, v\d+, vcc_lo$/),
      expect.stringMatching(/^global_load_dword v\d+, v\[\d+:\d+\], off$/),
    ]);
    expect(text(`${divergent}\n${word("p", "zero")}\n${store("x")}`).join()).not.toMatch(/v_add_co/);
  });
});

describe("workgroup memory", () => {
  const pair = (first: number, second: number): string[] =>
    text(`  %s:32x1 = load_shared %o base=${first} div
  %t:32x1 = load_shared %o base=${second} div
  %a:32 = iadd %s, %t div
${store("a")}`).filter((l) => l.startsWith("ds_"));

  it("reads two words at two offsets at once where the offsets fit", () => {
    expect(pair(0, 1020)).toEqual([expect.stringMatching(/^ds_read2_b32 v\[\d+:\d+\], v\d+ offset1:255$/)]);
    expect(pair(256, 65_280)).toEqual([expect.stringMatching(/^ds_read2st64_b32 .* offset0:1 offset1:255$/)]);
    expect(pair(0, 1024)).toEqual([expect.stringMatching(/^ds_read2st64_b32 .* offset1:4$/)]);
    expect(pair(0, 1028)).toHaveLength(2);
    expect(pair(0, 2)).toHaveLength(2);
  });

  const loads = (bases: readonly number[]): string[] =>
    text(`${bases.map((base, k) => `  %s${k}:32x1 = load_shared %o base=${base} div`).join("\n")}
${bases.map((_, k) => `  %a${k}:32 = iadd ${k === 0 ? "%o" : `%a${k - 1}`}, %s${k} div`).join("\n")}
${store(`a${bases.length - 1}`)}`).filter((l) => l.startsWith("ds_") || l.includes("clamp"));

  it("makes one nearer address for two pairs and more whose offsets do not fit", () => {
    expect(loads([1024, 1088, 1152, 1216])).toEqual([
      expect.stringMatching(/^v_add_nc_u32_e64 v\d+, v\d+, 0x400 clamp$/),
      expect.stringMatching(/^ds_read2_b32 v\[\d+:\d+\], v\d+ offset1:16$/),
      expect.stringMatching(/^ds_read2_b32 v\[\d+:\d+\], v\d+ offset0:32 offset1:48$/),
    ]);
    // The third pair finds the address; what lies below it, or too far, stays alone.
    const many = loads([2000, 2004, 2008, 2012, 3016, 3020, 1996, 3024]);
    for (const pattern of [
      /^v_add_nc_u32_e64 v\d+, v\d+, 0x7d0 clamp$/,
      /^ds_read2_b32 .* v\d+ offset1:1$/,
      /^ds_read2_b32 .* v\d+ offset0:2 offset1:3$/,
      /^ds_read2_b32 .* v\d+ offset0:254 offset1:255$/,
      /^ds_read_b32 .* offset:1996$/,
      /^ds_read_b32 .* offset:3024$/,
    ])
      expect(count(many, pattern)).toBe(1);
    expect(many).toHaveLength(6);
  });

  it("makes none for one pair, for rows that fit as they are, and for odd distances", () => {
    expect(loads([1024, 1088])).toHaveLength(2);
    expect(loads([1024, 1088, 2200])).toHaveLength(3);
    expect(loads([1024, 1088, 1280])).toEqual([
      expect.stringMatching(/^ds_read2st64_b32 .* offset0:4 offset1:5$/),
      expect.stringMatching(/^ds_read_b32 .* offset:1088$/),
    ]);
    expect(loads([1025, 1088, 1154, 1219])).toHaveLength(4);
  });

  it("joins loads around a wide one, but not around a store", () => {
    const around = (between: string) =>
      text(`  %s:32x1 = load_shared %o base=0 div
${between}
  %t:32x1 = load_shared %o base=8 div
  %a:32 = iadd %s, %t div
${store("a")}`).filter((l) => l.startsWith("ds_read2_b32"));
    expect(around("")).toHaveLength(1);
    expect(
      around(`  %four:32 = const 4
  %q:32 = ishl %l, %four div
  %w:32x4 = load_shared %q base=64 div
  store_ssbo %w, %q set=0 binding=1 base=0`),
    ).toHaveLength(1);
    expect(around("  store_shared %s, %o base=64")).toHaveLength(0);
  });

  it("moves no store over one that may go to the same words", () => {
    const pairs = (between: string) =>
      text(`  %p:32 = ishl %l, %one div
  store_shared %l, %o base=52
${between}
  store_shared %l, %o base=48`).filter((l) => l.startsWith("ds_write2"));
    expect(pairs("  store_shared %o, %o base=60")).toHaveLength(1);
    expect(pairs("  store_shared %o, %p base=60")).toHaveLength(0);
    // The second store goes with the third; the first one would have to pass both to meet the last.
    expect(pairs("  store_shared %o, %o base=52\n  store_shared %o, %o base=64")).toEqual([
      expect.stringMatching(/^ds_write2_b32 v(\d+), v\1, v\1 offset0:13 offset1:16$/),
    ]);
    const twice = text(`  store_shared %l, %o base=52
  store_shared %o, %o base=52
  store_shared %l, %o base=48`).filter((l) => l.startsWith("ds_write"));
    expect(twice).toEqual([
      expect.stringMatching(/^ds_write_b32 v\d+, v\d+ offset:52$/),
      expect.stringMatching(/^ds_write2_b32 v(\d+), v\1, v\d+ offset0:13 offset1:12$/),
    ]);
    expect(pairs("  store_shared %o, %o base=54")).toHaveLength(0);
  });

  it("gives stores the nearer address in front of the first pair", () => {
    const stores = [1024, 1028, 1032, 1036].map((base) => `  store_shared %o, %o base=${base}`).join("\n");
    expect(text(stores).filter((l) => l.startsWith("ds_") || l.includes("clamp"))).toEqual([
      expect.stringMatching(/^v_add_nc_u32_e64 v\d+, v\d+, 0x400 clamp$/),
      expect.stringMatching(/^ds_write2_b32 (v\d+), v\d+, v\d+ offset1:1$/),
      expect.stringMatching(/^ds_write2_b32 (v\d+), v\d+, v\d+ offset0:2 offset1:3$/),
    ]);
  });

  it("does so for elements of an array, whose constants are added before the shift", async () => {
    const program = `shader compute "main" wave32 local=64,1,1 lds=1024 {
b0:
  %two:32 = const 2
  %three:32 = const 3
  %l:32 = load_local_id component=0 div
  %o:32 = ishl %l, %two div
  %k:32 = iadd %l, %three div
  %p:32 = ishl %k, %two div
  %s:32 = load_shared %o base=0 div
  %t:32 = load_shared %p base=0 div
  %a:32 = iadd %s, %t div
  store_ssbo %a, %o set=0 binding=1 base=0
  end
}
`;
    const core = await createCore({ checked: true });
    const passed = (ir: string, pass: "opt-offsets" | "opt-cse"): string => {
      const result = core.runPass(ir, pass);
      if (!result.ok) throw new Error(`${pass} failed`);
      return result.ir;
    };
    const optimised = passed(passed(program, "opt-offsets"), "opt-cse");
    const lines = disassemble(emitted(backEnd.emit(optimised)).code).map((line) => line.text.trim());
    expect(lines.filter((l) => l.startsWith("ds_"))).toEqual([
      expect.stringMatching(/^ds_read2_b32 v\[\d+:\d+\], v\d+ offset1:3$/),
    ]);
  });

  it("keeps the order of accesses that may meet", () => {
    const lines = text(`  store_shared %l, %o base=0
  %s:32x1 = load_shared %two base=64 div
  store_shared %s, %o base=256
  store_shared %two, %o base=512
${store("l")}`).filter((l) => l.startsWith("ds_"));
    expect(lines).toEqual([
      expect.stringMatching(/^ds_write_b32/),
      expect.stringMatching(/^ds_read_b32/),
      expect.stringMatching(/^ds_write2_b32 .* offset0:64 offset1:128$/),
    ]);
  });
});

describe("control flow", () => {
  const diverge = (then: string, other: string): string => `${load("x")}
  %c:1 = ult %x, %l div
  if %c div {
t:
${then}
  } else {
e:
${other}
  }
m:`;

  it("writes EXEC with the compare when nothing follows", () => {
    const lines = text(diverge(store("l"), ""));
    expect(count(lines, /^v_cmpx_/)).toBe(1);
    expect(count(lines, /saveexec|exec_lo/)).toBe(0);
    expect(count(lines, /^s_cbranch_execz/)).toBe(1);
  });

  it("saves, switches and restores EXEC around two sides", () => {
    // 48 invocations: the second wave is launched with half of its lanes.
    const lines = text(`${diverge(store("l"), store("x"))}\n${store("o")}`, undefined, 48);
    const exec = lines.filter((l) => /exec/.test(l)).map((l) => l.split(" ")[0]);
    expect(exec).toEqual(["s_and_saveexec_b32", "s_cbranch_execz", "s_andn2_b32", "s_cbranch_execz", "s_mov_b32"]);
  });

  it("saves no EXEC where every lane is active", () => {
    const lines = text(`${diverge(store("l"), store("x"))}\n${store("o")}`);
    const exec = lines.filter((l) => /exec|cmpx/.test(l)).map((l) => l.replace(/ v.*/, ""));
    expect(exec).toEqual([
      expect.stringMatching(/^v_cmpx_/),
      expect.stringMatching(/^s_cbranch_execz/),
      "s_andn2_b32 exec_lo, -1, exec_lo",
      expect.stringMatching(/^s_cbranch_execz/),
      "s_mov_b32 exec_lo, -1",
    ]);
  });

  it("repeats a short test at the end of a loop", () => {
    const lines = text(`  %n:32 = load_push base=0
loop {
h: preds b0 c
  %i:32 = phi %zero, %next
  %more:1 = ult %i, %n
  if %more {
t:
  } else {
e:
  break
  }
b:
  store_ssbo %i, %o set=0 binding=1 base=0
} cont {
c:
  %next:32 = iadd %i, %one
}
m:`);
    expect(count(lines, /^s_branch/)).toBe(0);
    expect(count(lines, /^s_cmp_(lt|ge)_u32/)).toBe(2);
    expect(count(lines, /^s_cbranch_scc/)).toBe(2);
  });

  it("does not branch over a few ALU instructions", () => {
    const lines = text(`${load("x")}
  %c:1 = ult %x, %l div
  if %c div {
t:
  %a:32 = iadd %x, %l div
  } else {
e:
  }
m:
  %r:32 = phi %a, %x div
${store("r")}`);
    expect(count(lines, /^s_cbranch/)).toBe(0);
  });

  it("branches on SCC for uniform conditions", () => {
    const lines = text(`  %p:32 = load_push base=0
  %c:1 = ult %p, %two
  if %c {
t:
${store("l")}
  } else {
e:
  }
m:`);
    const at = lines.findIndex((l) => l.startsWith("s_cmp"));
    expect(lines.slice(at, at + 2)).toEqual([
      expect.stringMatching(/^s_cmp_lt_u32 s\d+, 2$/),
      expect.stringMatching(/^s_cbranch_scc0 /),
    ]);
    expect(count(lines, /exec/)).toBe(0);
  });

  it("spills what is over 256 vector registers at a barrier, once each", () => {
    const names = Array.from({ length: 300 }, (_, k) => `x${k}`);
    const loads = names.map((n, k) => load(n, 0, 4 * k)).join("\n");
    const sums = names.map((n, k) => `  %s${k + 1}:32 = fadd %${k === 0 ? "x299" : `s${k}`}, %${n} div`).join("\n");
    const code = emitted(backEnd.emit(wrap(`${loads}\n  barrier scope=1 storage=1\n${sums}\n${store("s300")}`)));
    const lines = disassemble(code.code).map((line) => line.text.trim());
    // 300 values live, beside the lane id and its offset.
    expect(code.spilledVgprs).toBeGreaterThanOrEqual(302 - 256);
    expect(code.spilledVgprs).toBeLessThan(302 - 256 + 16);
    expect(count(lines, /^scratch_store/)).toBe(code.spilledVgprs);
  });
});

describe("descriptors", () => {
  it("that stand side by side are loaded at once, two or four of them", () => {
    const uses = [0, 1, 2, 3, 5, 6, 9].map(
      (b) => `${load(`x${b}`, b)}\n  store_ssbo %x${b}, %o set=0 binding=${b} base=4`,
    );
    const loads = text(uses.join("\n")).filter((l) => l.startsWith("s_load"));
    expect(loads.map((l) => [/dwordx(\d+)/.exec(l)?.[1], / (0x[0-9a-f]+)$/.exec(l)?.[1]])).toEqual([
      ["16", "0x0"],
      ["8", "0x50"],
      ["4", "0x90"],
    ]);
  });

  it("of elements beyond an array are its last one's", () => {
    const lines = text(`  %nine:32 = const 9
  %last:32 = const 3
  %a:32x1 = load_ssbo %o, %last set=0 binding=12 base=0 div
  %b:32x1 = load_ssbo %o, %nine set=0 binding=12 base=4 div
  %s:32 = iadd %a, %b div
${store("s")}`);
    expect(count(lines, /^s_load_dwordx4 .* 0xf0$/)).toBe(1);
    expect(count(lines, /^buffer_load_dword /)).toBe(2);
  });
});

describe("waits", () => {
  it("stand before the first reader and count what was issued since", () => {
    const lines = text(`${load("x")}
${load("y", 2)}
${load("z", 3)}
  %a:32 = iadd %x, %l div
  %b:32 = ixor %a, %y div
  %c:32 = isub %b, %z div
${store("c")}`);
    const waits = lines.filter((l) => l.startsWith("s_waitcnt vmcnt"));
    expect(waits).toEqual(["s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"]);
    expect(after(lines, /^s_waitcnt vmcnt\(2\)/)).toMatch(/^v_add_nc_u32/);
  });

  it("are for 0 while a scalar load is open", () => {
    const lines = text(`  %u:32x1 = load_ubo %zero set=0 binding=4 base=0
  %s:32x1 = load_shared %o base=0 div
  %t:32x1 = load_shared %o base=256 div
  %a:32 = iadd %s, %l div
  %b:32 = iadd %a, %t div
  %c:32 = ixor %b, %u div
${store("c")}`);
    expect(lines.filter((l) => /lgkmcnt\([1-9]/.test(l))).toEqual([]);
  });

  it("count DS loads exactly when no scalar load is open", () => {
    const lines = text(`  %s:32x1 = load_shared %o base=0 div
  %p:32 = ishl %o, %one div
  %t:32x1 = load_shared %p base=256 div
  %a:32 = iadd %s, %l div
  %b:32 = imul %a, %t div
  store_shared %b, %o base=0`);
    expect(lines.filter((l) => l.startsWith("s_waitcnt"))).toEqual(["s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"]);
  });

  it("hold at a barrier for what it orders, and only that", () => {
    const shared = text(`${load("x")}
${store("l")}
  store_shared %l, %o base=0
  barrier scope=2 storage=2
  %y:32x1 = load_shared %o base=4 div
  %z:32 = iadd %x, %y div
${store("z")}`);
    const at = shared.indexOf("s_barrier");
    const write = shared.findIndex((line) => line.startsWith("ds_write"));
    expect(shared.slice(write, at)).toContain("s_waitcnt lgkmcnt(0)");
    expect(count(shared, /vscnt|gl0_inv/)).toBe(0);
    const buffers = text(`${store("l")}
  barrier scope=2 storage=3
${load("x", 1, 4)}
${store("x")}`);
    const b = buffers.indexOf("s_barrier");
    expect(buffers[b - 1]).toMatch(/^s_waitcnt_vscnt null, 0x0$/);
    expect(buffers[b + 1]).toBe("buffer_gl0_inv");
  });

  it("leave the execution barrier out for one wave", () => {
    expect(count(text(`  store_shared %l, %o base=0\n  barrier scope=2 storage=2`, {}, 32), /s_barrier/)).toBe(0);
  });

  it("are found around a loop's back edge", () => {
    // The load of round n is read in round n + 1 only.
    const lines = text(`  %p:32 = load_push base=0
  loop {
h:
  %i:32 = phi %zero, %in
  %x:32 = phi %l, %xn div
  %acc:32 = phi %l, %an div
  %c:1 = uge %i, %p
  if %c {
t:
  break
  } else {
e:
  }
m:
  %an:32 = iadd %acc, %x div
  %io:32 = iadd %o, %i div
  %xn:32x1 = load_ssbo %io set=0 binding=0 base=0 div
  } cont {
k:
  %in:32 = iadd %i, %one
  }
z:
  %r:32 = phi %acc div
${store("r")}`);
    const add = lines.findIndex((l) => /^v_add_nc_u32_e32 (v\d+), \1, v\d+$/.test(l));
    const read = lines.findIndex((l) => l.startsWith("buffer_load"));
    const wait = lines.findIndex((l) => l.startsWith("s_waitcnt vmcnt(0)"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThan(read);
    expect(add).toBeGreaterThan(0);
  });
});

describe.skipIf(!oracle("llvm-mc-19"))("the words", () => {
  it("are all known to llvm, with legal registers", () => {
    const bytes: string[] = [];
    for (let seed = 100; seed < 160; seed++) {
      const { code } = emitted(backEnd.emit(generateProgram(seed, 80).text));
      for (const word of code) {
        bytes.push([0, 8, 16, 24].map((shift) => `0x${((word >>> shift) & 0xff).toString(16)}`).join(" "));
      }
    }
    const done = runOracle("llvm-mc-19", ["-triple=amdgcn", "-mcpu=gfx1030", "-disassemble"], bytes.join("\n"));
    expect(done.stderr).toBe("");
    expect(done.stdout).not.toMatch(/Invalid/);
  });
});
