import { beforeAll, describe, expect, it } from "vitest";
import { disassemble } from "../../src/isa/index.ts";
import { oracle, runOracle } from "../oracles.ts";
import { generateProgram } from "./generate.ts";
import { type BackEnd, type EmitOptions, emitted, loadBackEnd } from "./module.ts";

let backEnd: BackEnd;
beforeAll(() => {
  backEnd = loadBackEnd();
});

const wrap = (body: string): string =>
  `shader compute "main" wave32 local=64,1,1 {\nb0:\n  %zero:32 = const 0\n  %one:32 = const 1\n  %two:32 = const 2\n  %l:32 = load_local_id component=0 div\n  %o:32 = ishl %l, %two div\n${body}\n  end\n}\n`;
const textOf = (code: Uint32Array): string[] => disassemble(code).map((line) => line.text.trim());
const text = (body: string, options?: EmitOptions): string[] => textOf(emitted(backEnd.emit(wrap(body), options)).code);
const load = (name: string, base: number, offset = "o", binding = 0, flags = ""): string =>
  `  %${name}:32x1 = load_ssbo %${offset} set=0 binding=${binding} base=${base}${flags} div`;
const store = (value: string, base: number, binding = 1, flags = ""): string =>
  `  store_ssbo %${value}, %o set=0 binding=${binding} base=${base}${flags}`;

/** Accesses and vmcnt waits in order: `load 4`, `store 8`, `wait`. */
function accesses(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const access = /^buffer_(load|store)_/.exec(line);
    if (access !== null) return [`${access[1]} ${/offset:(\d+)/.exec(line)?.[1] ?? 0}`];
    return /^s_waitcnt.*vmcnt/.test(line) ? ["wait"] : [];
  });
}

/** Scalar comparisons by what comes first behind them: a reader of SCC, or another writer. */
function comparisons(code: Uint32Array): { read: number; unread: number } {
  const lines = textOf(code);
  const found = { read: 0, unread: 0 };
  for (const [k, line] of lines.entries()) {
    if (!/^s_(cmp|bitcmp)/.test(line)) continue;
    const rest = lines.slice(k + 1);
    const reader = rest.findIndex((l) => /^s_(cselect|cbranch_scc|addc|subb|cmov)/.test(l));
    const writer = rest.findIndex((l) => /^s_(cmp|bitcmp|add_|sub_|and|or|xor|not|lsh|ash|bfe|min|max|abs)/.test(l));
    if (reader !== -1 && (writer === -1 || reader < writer)) found.read++;
    else found.unread++;
  }
  return found;
}

describe("the list scheduler", () => {
  it("begins with the longest way to the end, not with what was selected first", () => {
    // The load at 8 addresses another one; that at 4 is read at the very end.
    const body = `${load("a", 4)}
${load("b", 8)}
  %bo:32 = ishl %b, %two div
${load("c", 16, "bo")}
  %r:32 = iadd %c, %a div
${store("r", 0)}`;
    expect(accesses(text(body)).slice(0, 2)).toEqual(["load 8", "load 4"]);
    expect(accesses(text(body, { level: 0 })).slice(0, 2)).toEqual(["load 4", "load 8"]);
  });

  it("has loads under way together, past a store to another binding", () => {
    const body = `${load("a", 4)}
${store("a", 20)}
${load("b", 8)}
${store("b", 24)}`;
    expect(accesses(text(body))).toEqual(["load 4", "load 8", "wait", "store 20", "wait", "store 24"]);
    expect(accesses(text(body, { level: 0 }))).toEqual(["load 4", "wait", "store 20", "load 8", "wait", "store 24"]);
  });

  it("keeps accesses in order that may meet", () => {
    const inOrder = ["load 4", "wait", "store 20", "load 8", "wait", "store 24"];
    // One binding; another one where either is aliased; a load that is coherent.
    const same = `${load("a", 4, "o", 1)}
${store("a", 20)}
${load("b", 8, "o", 1)}
${store("b", 24)}`;
    expect(accesses(text(same))).toEqual(inOrder);
    const aliased = `${load("a", 4)}
${store("a", 20, 1, " aliased")}
${load("b", 8)}
${store("b", 24)}`;
    expect(accesses(text(aliased))).toEqual(inOrder);
    const coherent = `${load("a", 4, "o", 0, " coherent")}
${store("a", 20)}
${load("b", 8, "o", 0, " coherent")}
${store("b", 24)}`;
    expect(accesses(text(coherent)).filter((a) => a !== "wait")).toEqual(inOrder.filter((a) => a !== "wait"));
  });

  it("stops taking loads ahead where registers would run out", () => {
    // 200 words, each squared into a sum that reads them from the last to the first: all of them at once do not fit twice.
    const numbers = Array.from({ length: 200 }, (_, k) => k);
    const body = `${numbers.map((k) => load(`x${k}`, 4 * k)).join("\n")}
  %s0:32 = fmul %x0, %x0 div
${numbers
  .slice(1)
  .map((k) => `  %s${k}:32 = ffma %x${k}, %x${k}, %s${k - 1} div`)
  .join("\n")}
${store("s199", 0)}`;
    const { code, spilledVgprs } = emitted(backEnd.emit(wrap(body)));
    expect(spilledVgprs).toBe(0);
    const used = Math.max(...textOf(code).flatMap((l) => [...l.matchAll(/\bv(\d+)/g)].map(([, n]) => Number(n))));
    expect(used).toBeLessThan(256);
    // Where the sum follows each load, no more than the free registers are taken.
    const short = `  %s0:32 = fmul %l, %l div
${numbers
  .slice(1)
  .map((k) => `${load(`x${k}`, 4 * k)}\n  %s${k}:32 = ffma %x${k}, %x${k}, %s${k - 1} div`)
  .join("\n")}
${store("s199", 0)}`;
    const lines = text(short);
    const most = Math.max(...lines.flatMap((l) => [...l.matchAll(/\bv(\d+)/g)].map(([, n]) => Number(n))));
    expect(most).toBeLessThan(48);
    const ahead = accesses(lines).indexOf("wait");
    expect(ahead).toBeGreaterThanOrEqual(16);
  });

  it("lets nothing come between a write of SCC and its reader", () => {
    // A comparison that nobody reads (a test that went) is one at level 0 too; loops repeat theirs from level 1 on.
    let read = 0;
    for (let seed = 200; seed < 216; seed++) {
      const program = generateProgram(seed, 80).text;
      const [selected, scheduled] = ([0, 2] as const).map((level) =>
        comparisons(emitted(backEnd.emit(program, { level })).code),
      );
      expect(scheduled?.unread, `seed ${seed}`).toBe(selected?.unread);
      read += selected?.read ?? 0;
    }
    expect(read).toBeGreaterThan(12);
  });
});

/** The kind of a load as clauses have it. */
function kindOf(line: string | undefined): "smem" | "vmem" | undefined {
  if (line === undefined) return undefined;
  if (/^s_(buffer_)?load_/.test(line)) return "smem";
  return /^(buffer|global|scratch)_load_|^image_(load|sample|gather)/.test(line) ? "vmem" : undefined;
}

describe("clauses", () => {
  it("have all loads of one kind that stand side by side, and nothing else", () => {
    const lengths: number[] = [];
    for (let seed = 300; seed < 316; seed++) {
      const program = generateProgram(seed, 80).text;
      expect(textOf(emitted(backEnd.emit(program, { level: 0 })).code).join()).not.toContain("s_clause");
      const lines = textOf(emitted(backEnd.emit(program)).code);
      for (let k = 0; k < lines.length; k++) {
        const clause = /^s_clause (\w+)$/.exec(lines[k] as string);
        if (clause === null) {
          // Loads outside a clause stand alone.
          if (kindOf(lines[k]) !== undefined) expect(kindOf(lines[k + 1])).not.toBe(kindOf(lines[k]));
          continue;
        }
        const length = Number(clause[1]) + 1;
        lengths.push(length);
        const kind = kindOf(lines[k + 1]);
        expect(kind).toBeDefined();
        for (let n = 1; n <= length; n++) expect(kindOf(lines[k + n])).toBe(kind);
        k += length;
        expect(kindOf(lines[k + 1])).not.toBe(kind);
      }
    }
    expect(lengths.length).toBeGreaterThan(8);
    expect(Math.min(...lengths)).toBe(2);
  });

  it.skipIf(!oracle("llvm-mc-19"))("of more than 63 loads are several, as llvm reads them", () => {
    const numbers = Array.from({ length: 70 }, (_, k) => k);
    const body = `${numbers.map((k) => load(`x${k}`, 8 * k)).join("\n")}
  %s0:32 = fmul %x69, %x69 div
${numbers
  .slice(1)
  .map((k) => `  %s${k}:32 = ffma %x${k - 1}, %x${k}, %s${k - 1} div`)
  .join("\n")}
${store("s69", 0)}`;
    const { code } = emitted(backEnd.emit(wrap(body)));
    const bytes = [...code].map((w) => [0, 8, 16, 24].map((s) => `0x${((w >>> s) & 0xff).toString(16)}`).join(" "));
    const done = runOracle("llvm-mc-19", ["-triple=amdgcn", "-mcpu=gfx1030", "-disassemble"], bytes.join("\n"));
    const lines = done.stdout.split("\n").map((line) => line.replace(/\/\/.*/, "").trim());
    const clauses = lines.flatMap((line) => /^s_clause (\w+)$/.exec(line)?.[1] ?? []).map(Number);
    // SIMM16 is the length - 1: 62 for 63 loads, and 6 for the seven that are left.
    expect(clauses).toEqual([62, 6]);
    expect(lines.filter((line) => line.startsWith("buffer_load"))).toHaveLength(70);
  });
});
