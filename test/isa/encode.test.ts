import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { allOps, decode, encode, formats, print } from "../../src/isa/index.ts";
import { oracle } from "../oracles.ts";
import { llvmAssemble } from "./llvm.ts";
import { choices, type Sample, sample } from "./samples.ts";

const ops = allOps();
const samples: readonly Sample[] = ops.flatMap((op) => Array.from({ length: choices }, (_, c) => sample(op, c)));
const hex = (words: readonly number[] | string) =>
  typeof words === "string" ? words : words.map((w) => w.toString(16).padStart(8, "0")).join(" ");

describe("every row", () => {
  it("has all its samples decode to the same op, fields and length", () => {
    const wrong = samples.filter((s) => {
      const words = encode(s);
      const found = decode(words, 0);
      if (found?.op !== s.op || found.dwords !== words.length || found.literal !== s.literal) return true;
      return Object.entries(s.fields).some(([name, value]) => found.fields[name] !== value);
    });
    expect(wrong.map((s) => s.text)).toEqual([]);
  });

  it("has samples that truncation makes undecodable, not wrong", () => {
    const wrong = samples.filter((s) => decode(encode(s).slice(0, -1), 0) !== undefined);
    expect(wrong.map((s) => s.text)).toEqual([]);
  });
});

describe.skipIf(!oracle("llvm-mc-19"))("against llvm-mc", () => {
  it("encodes every sample as llvm-mc does", () => {
    const want = llvmAssemble(samples.map((s) => s.text));
    const wrong = samples.flatMap((s, i) => {
      const got = hex(encode(s));
      return got === hex(want[i]!) ? [] : [`${s.text}: ${got}, llvm-mc ${hex(want[i]!)}`];
    });
    expect(wrong).toEqual([]);
    expect(want.length).toBe(ops.length * choices);
  });

  it("prints text that llvm-mc assembles to the same dwords", () => {
    const texts = samples.map((s) => print(decode(encode(s), 0)!));
    const back = llvmAssemble(texts);
    const wrong = samples.flatMap((s, i) => {
      const want = hex(encode(s));
      return want === hex(back[i]!) ? [] : [`${texts[i]}: llvm-mc ${hex(back[i]!)}, ours ${want}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe("generated AssemblyScript", () => {
  interface Exports {
    args(): number;
    pack(op: number): bigint;
    lookUp(word: number): number;
    lengths(op: number, lo: number, hi: number): number;
  }
  let wasm: Exports;
  let memory: WebAssembly.Memory;

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-isa-"));
    const out = join(folder, "pack.wasm");
    const asc = [
      "node_modules/assemblyscript/bin/asc.js",
      "assembly/gen/isa-check.ts",
      "--target",
      "checked",
      "-o",
      out,
    ];
    const done = spawnSync(process.execPath, asc, { encoding: "utf8" });
    expect(done.status, done.stderr).toBe(0);
    const module = new WebAssembly.Module(readFileSync(out));
    rmSync(folder, { recursive: true });
    memory = new WebAssembly.Memory({ initial: 2 });
    const abort = () => {
      throw new Error("assertion failed in packing function");
    };
    wasm = new WebAssembly.Instance(module, { env: { memory, abort } }).exports as unknown as Exports;
  });

  it("packs every sample to the words that the fields say", () => {
    const wrong: string[] = [];
    for (const s of samples) {
      const words = encode(s);
      const decoded = decode(words, 0)!.fields;
      const fields = formats[s.op.format].fields.filter((f) => f.name !== "op" && f.name !== "seg");
      const view = new Int32Array(memory.buffer, wasm.args(), 32);
      fields.forEach((f, i) => {
        view[i] = decoded[f.name]!;
      });
      const packed = BigInt.asUintN(64, wasm.pack(s.op.id));
      const got = [Number(packed & 0xffffffffn), Number(packed >> 32n)].slice(0, formats[s.op.format].dwords);
      if (hex(got) !== hex(words.slice(0, got.length))) wrong.push(`${s.text}: ${hex(got)}, want ${hex(words)}`);
    }
    expect(wrong).toEqual([]);
  });

  it("looks up the op and the length of every sample", () => {
    const wrong: string[] = [];
    for (const s of samples) {
      const words = encode(s);
      const op = wasm.lookUp(words[0]!);
      const length = wasm.lengths(op, words[0]!, words[1] ?? 0);
      if (op !== s.op.id || (length & 0xffff) !== words.length || length >> 16 !== formats[s.op.format].dwords) {
        wrong.push(`${s.text}: op ${op}, length ${length}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("finds nothing for opcodes that no row has", () => {
    // SOP1 opcode 0 (the first is s_mov_b32, 3), SOPC 0x7f and VOP3 0x3ff are no instructions of gfx1030.
    expect(wasm.lookUp(0x17d << 23)).toBe(0);
    expect(wasm.lookUp((0x17e << 23) | (0x7f << 16))).toBe(0);
    expect(wasm.lookUp((0x35 << 26) | (0x3ff << 16))).toBe(0);
  });
});

describe("the table", () => {
  it("has each mnemonic once, opcodes that fit their field, and what it says to swap with", () => {
    const mnemonics = new Set(ops.map((op) => op.mnemonic));
    expect(mnemonics.size).toBe(ops.at(-1)?.id);
    for (const op of ops) {
      expect(op.opcode, op.mnemonic).toBeLessThan(1 << formats[op.format].fields[0]!.width);
      if (op.swap !== undefined) expect(mnemonics.has(op.swap), op.mnemonic).toBe(true);
    }
  });
});
