import { expect, it } from "vitest";
import { benchCodegen, usedRegisters } from "../../src/cli/bench-codegen.ts";
import { benchShaders } from "../../src/cli/bench-corpus.ts";
import { moduleFigures } from "../../src/cli/bench-module.ts";
import type { Peers } from "../../src/cli/bench-peers.ts";
import { simulatePeer, simulateTable } from "../../src/cli/bench-simulate.ts";

it("reads the highest register from an assembler text, comments aside", () => {
  const text = ["v_add_f32_e32 v3, s4, v[10:11]", "s_load_dwordx4 s[4:7], s[2:3], 0x30 ; s99 v99", "main: // v50"].join(
    "\n",
  );
  expect(usedRegisters(text, "v")).toBe(12);
  expect(usedRegisters(text, "s")).toBe(8);
  expect(usedRegisters("s_endpgm", "v")).toBe(0);
});

it("starts the core's module in a process of its own", () => {
  const { bytes, moduleMs, instanceMs } = moduleFigures(1);
  expect(bytes).toBeGreaterThan(100_000);
  expect(Math.min(moduleMs, instanceMs)).toBeGreaterThan(0);
});

it("compares the code of the example kernels with a peer's", async () => {
  const shaders = benchShaders([]).filter(({ file }) => file.endsWith("saxpy.comp"));
  const [saxpy] = shaders;
  expect(saxpy?.id).toMatch(/saxpy\.comp$/);
  const alone = await benchCodegen(shaders, undefined);
  const own = alone.rows[0]?.instructions as number;
  expect(alone.instructionsRatioGeomean).toBeUndefined();
  const peer = { id: saxpy?.id as string, instructions: own * 4, spills: 0, cpuUs: 1, assembly: "v_mov_b32 v0, s3" };
  const none = new Map<string, never>();
  const radv = new Map([[peer.id, peer]]);
  const peers: Peers = { radv, glslang: none, words: none, refused: new Set(), pipelines: none, counterparts: none };
  const { shaders: count, instructionsRatioGeomean, over2x, refused } = await benchCodegen(shaders, peers);
  expect({ count, instructionsRatioGeomean, over2x, refused }).toEqual({
    count: 1,
    instructionsRatioGeomean: 0.25,
    over2x: [],
    refused: [],
  });
});

it("reads a peer's figures of the kernels from what its command prints", () => {
  const lines = ['{"kernel":"saxpy","cpu_min_ms":12.5,"first_ms":3}', "a remark", '{"kernel":"nbody","cpu_min_ms":7}'];
  const figures = simulatePeer(lines.map((line) => `echo '${line}'`).join("; "));
  expect([...figures]).toEqual([
    ["saxpy", 12.5],
    ["nbody", 7],
  ]);
  expect(() => simulatePeer("echo no figures")).toThrow("printed no figures");
  expect(() => simulatePeer("echo '{\"kernel\":'")).toThrow("no JSON");
  expect(() => simulatePeer('echo \'{"kernel":"saxpy","cpu_min_ms":1}\'; echo broken >&2; exit 4')).toThrow("broken");
});

it("prints a kernel without a peer's figure beside one with", () => {
  const kernels = [
    { name: "saxpy", cpuMs: 30, peerCpuMs: 12, ratio: 2.5 },
    { name: "nbody", cpuMs: 8, peerCpuMs: undefined, ratio: undefined },
  ];
  const table = simulateTable({ kernels, geomean: 2.5 });
  expect(table).toMatch(/^saxpy +30\.0 +12\.0 +2\.50$/m);
  expect(table).toMatch(/^nbody +8\.0 +- +-$/m);
  expect(table).toMatch(/^geometric mean +2\.50$/m);
});
