import { expect, it } from "vitest";
import { benchCodegen, usedRegisters } from "../../src/cli/bench-codegen.ts";
import { benchShaders } from "../../src/cli/bench-corpus.ts";
import type { Peers } from "../../src/cli/bench-peers.ts";

it("reads the highest register from an assembler text, comments aside", () => {
  const text = ["v_add_f32_e32 v3, s4, v[10:11]", "s_load_dwordx4 s[4:7], s[2:3], 0x30 ; s99 v99", "main: // v50"].join(
    "\n",
  );
  expect(usedRegisters(text, "v")).toBe(12);
  expect(usedRegisters(text, "s")).toBe(8);
  expect(usedRegisters("s_endpgm", "v")).toBe(0);
});

it("compares the code of the example kernels with a peer's", async () => {
  const shaders = benchShaders([]).filter(({ file }) => file.endsWith("saxpy.comp"));
  const [saxpy] = shaders;
  expect(saxpy?.id).toMatch(/saxpy\.comp$/);
  const alone = await benchCodegen(shaders, undefined);
  const own = alone.rows[0]?.instructions as number;
  expect(alone.instructionsRatioGeomean).toBeUndefined();
  const peer = { id: saxpy?.id as string, instructions: own * 4, spills: 0, cpuUs: 1, assembly: "v_mov_b32 v0, s3" };
  const peers: Peers = { radv: new Map([[peer.id, peer]]), glslang: new Map(), words: new Map() };
  const { shaders: count, instructionsRatioGeomean, over2x, refused } = await benchCodegen(shaders, peers);
  expect({ count, instructionsRatioGeomean, over2x, refused }).toEqual({
    count: 1,
    instructionsRatioGeomean: 0.25,
    over2x: [],
    refused: [],
  });
});
