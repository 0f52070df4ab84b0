import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadDwords, readCodeObject, sourceEntries, userSgprCount, writeCodeObject } from "../../src/codeobj/index.ts";
import { messageWriter, packMessage } from "../../src/codeobj/message-pack.ts";
import { readReflection, readStatistics } from "../../src/codeobj/metadata.ts";
import { writeReflection, writeStatistics } from "../../src/codeobj/metadata-writer.ts";
import { oracle, runOracle } from "../oracles.ts";
import { code, entry, reflection, sourceMap, stats } from "./sample.ts";

const elf = writeCodeObject([entry]);
const long = { ...entry, name: "second", code: new Uint32Array(300).fill(0xbf800000) };

function readable(bytes: Uint8Array) {
  const result = readCodeObject(bytes);
  if (!result.ok) throw new Error(result.message);
  return result.object;
}

describe("writeCodeObject", () => {
  it("gives the same bytes for the same entry, whatever the key order of its parts", () => {
    const reversed = Object.fromEntries(Object.entries(stats).reverse()) as unknown as typeof stats;
    expect(Buffer.from(writeCodeObject([{ ...entry, stats: reversed }])).equals(elf)).toBe(true);
  });

  it("does not change with the names of the source files", () => {
    const moved = sourceMap.map((e) => ({ ...e, file: `elsewhere/${e.file}` }));
    expect(Buffer.from(writeCodeObject([{ ...entry, sourceMap: moved }])).equals(elf)).toBe(true);
  });

  it("gives the same bytes for a source map of words, whose files may have one name under several ids", () => {
    const files = new Map([
      [5, "a.comp"],
      [9, "inc/b.glsl"],
      [7, "a.comp"],
    ]);
    const rows = Uint32Array.of(0, 5, 3, 5, 4, 9, 9, 1, 8, 7, 4, 1);
    const table = { rows, files, ownFile: "other" };
    expect(Buffer.from(writeCodeObject([{ ...entry, sourceMap: table }])).equals(elf)).toBe(true);
    expect(sourceEntries(table)).toEqual(sourceMap);
    // id 0: the shader's own text
    expect(sourceEntries({ rows: Uint32Array.of(0, 0, 1, 2), files, ownFile: "x.comp" })).toEqual([
      { offset: 0, file: "x.comp", line: 1, column: 2 },
    ]);
  });

  it("writes reflection and statistics as MessagePack of what their readers make of them", () => {
    const parameters = [{ location: 64, flat: true, pointCoord: true }];
    const graphics = {
      ...{ inputs: parameters, outputs: [], vertexAttributes: [], usesInstanceId: false, clipDistances: 1 },
      ...{ cullDistances: 0, pointSize: false, layer: true, viewport: false, inputAddress: 2, colorFormats: 4 },
      ...{
        depthFormat: 0,
        depth: false,
        stencil: false,
        sampleMask: false,
        kills: true,
        writesMemory: true,
        depthLayout: 2,
        earlyTests: false,
      },
      postDepthCoverage: false,
    };
    for (const each of [reflection, { ...reflection, interface: graphics }]) {
      const out = messageWriter();
      writeReflection(out, each);
      const written = Buffer.from(out.bytes());
      expect(written.equals(packMessage(readReflection(each, "") as never))).toBe(true);
    }
    const out = messageWriter();
    writeStatistics(out, stats);
    expect(Buffer.from(out.bytes()).equals(packMessage(readStatistics(stats, "") as never))).toBe(true);
  });

  it("refuses entry points of one name", () => {
    expect(() => writeCodeObject([entry, entry])).toThrow("distinct");
  });
});

describe("readCodeObject", () => {
  it("gives back what was written", () => {
    const [read] = readable(elf).entries;
    expect(read).toMatchObject({ name: "main", stage: "compute", offsetBytes: 0, ldsBytes: 1500, scratchBytes: 0 });
    expect(read?.code).toEqual(code);
    expect(read?.reflection).toEqual(reflection);
    expect(read?.statistics).toEqual(stats);
    expect(read?.sourceMap.map((p) => [p.offset, p.file, p.line])).toEqual([
      [0, 0, 3],
      [4, 1, 9],
      [8, 0, 4],
    ]);
    // 5 VGPRs: one block; FLOAT_MODE, DX10_CLAMP, WGP_MODE, MEM_ORDERED.
    expect(read?.registers.rsrc1).toBe(0xf0 * 2 ** 12 + 2 ** 21 + 2 ** 29 + 2 ** 30);
  });

  it("starts each entry point on 256 bytes and ends the text with 64 dwords of s_code_end", () => {
    const object = readable(writeCodeObject([entry, long, { ...entry, name: "third" }]));
    expect(object.entries.map((e) => e.offsetBytes)).toEqual([0, 256, 1536]);
    const third = loadDwords(object, object.entries[2]!);
    expect(third.slice(0, 3)).toEqual(code);
    expect(third.length).toBe(3 + 64);
    expect([...third.slice(3)].every((word) => word === 0xbf9f0000)).toBe(true);
  });

  it("answers damaged bytes with a message", () => {
    expect(readCodeObject(new Uint8Array(0))).toEqual({ ok: false, message: "not an ELF file" });
    expect(readCodeObject(elf.slice(0, 1000)).ok).toBe(false);
    for (let size = 0; size < elf.length; size += 7) expect(readCodeObject(elf.slice(0, size)).ok).toBe(false);
  });

  it("never throws on mutated bytes", () => {
    const mutation = fc.array(fc.tuple(fc.nat(elf.length - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(mutation, (edits) => {
        const damaged = elf.slice();
        for (const [at, value] of edits) damaged[at] = value;
        const result = readCodeObject(damaged);
        if (result.ok) for (const e of result.object.entries) loadDwords(result.object, e);
        else expect(result.message).not.toBe("");
      }),
      { numRuns: 3000, seed: 1 },
    );
  });

  it("never throws where a header field is set to an extreme", () => {
    const view = new DataView(elf.buffer);
    const sections = Number(view.getBigUint64(40, true));
    const header = [...Array(64).keys()].concat([...Array(7 * 64).keys()].map((i) => sections + i));
    for (const at of header) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const damaged = elf.slice();
        damaged[at] = value;
        expect(typeof readCodeObject(damaged).ok).toBe("boolean");
      }
    }
  });
});

describe("userSgprCount", () => {
  it("is one more than the last user SGPR", () => {
    expect(userSgprCount(reflection.userData)).toBe(5);
    expect(userSgprCount([])).toBe(0);
  });
});

describe.skipIf(!oracle("llvm-objdump-19"))("llvm-objdump", () => {
  const dump = (args: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-elf-"));
    try {
      const path = join(folder, "t.elf");
      writeFileSync(path, writeCodeObject([entry, { ...entry, name: "other" }]));
      return runOracle("llvm-objdump-19", [...args, path]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it("decodes the whole text without being told the CPU", () => {
    const { stdout, stderr, status } = dump(["-d"]);
    expect(status).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).toContain("file format elf64-amdgpu");
    expect(stdout).toMatch(/<main>:\s*\n\s*s_mov_b32 s0, 1 .*\n\s*v_mov_b32_e32 v0, s0 .*\n\s*s_endpgm/);
    expect(stdout).toMatch(/<other>:/);
    expect(stdout).not.toMatch(/\.long|<unknown>/);
    expect(stdout.match(/s_code_end/g)?.length).toBeGreaterThanOrEqual(64);
  });

  it("reads the kernel descriptor: registers, LDS, wave32", () => {
    const { stdout, stderr, status } = dump(["-D", "-j", ".rodata"]);
    expect(`${status}${stderr}`).toBe("0");
    expect(stdout).toContain(".amdhsa_kernel main");
    expect(stdout).toContain(".amdhsa_group_segment_fixed_size 1500");
    expect(stdout).toContain(".amdhsa_next_free_vgpr 8");
    expect(stdout).toContain(".amdhsa_float_denorm_mode_32 3");
    expect(stdout).toContain(".amdhsa_workgroup_processor_mode 1");
    expect(stdout).toContain(".amdhsa_memory_ordered 1");
    expect(stdout).toContain(".amdhsa_ieee_mode 0");
    expect(stdout).toContain(".amdhsa_dx10_clamp 1");
    expect(stdout).toContain(".amdhsa_system_sgpr_workgroup_id_x 1");
    expect(stdout).toContain(".amdhsa_system_sgpr_workgroup_id_y 0");
    expect(stdout).toContain(".amdhsa_system_vgpr_workitem_id 1");
    expect(stdout).toContain(".amdhsa_wavefront_size32 1");
  });
});
