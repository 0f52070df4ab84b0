import { beforeAll, describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

describe.skipIf(!oracle("llvm-mc-19"))("a hand-written kernel", () => {
  let rig: Rig;
  beforeAll(() => {
    rig = new Rig();
  });

  it("adds two arrays over several workgroups", () => {
    const n = 1024;
    const a = rig.alloc(n * 4);
    const b = rig.alloc(n * 4);
    const c = rig.alloc(n * 4);
    for (let i = 0; i < n; i++) {
      rig.f32(a.physical, n)[i] = i * 0.5;
      rig.f32(b.physical, n)[i] = 1000 - i;
    }
    const code = rig.code(
      assemble(`
        v_lshl_add_u32 v0, s6, 6, v0
        v_lshlrev_b32_e32 v1, 2, v0
        global_load_dword v2, v1, s[0:1]
        global_load_dword v3, v1, s[2:3]
        s_waitcnt vmcnt(0)
        v_add_f32_e32 v2, v2, v3
        global_store_dword v1, v2, s[4:5]
        s_endpgm`),
    );
    const user = [a, b, c].flatMap(({ va }) => [low(va), high(va)]);
    const fault = rig.run({ code, user, groups: [n / 64, 1, 1], threads: [64, 1, 1], ids: [true, false, false] });
    expect(fault).toBeUndefined();
    const got = rig.f32(c.physical, n);
    for (let i = 0; i < n; i++) expect(got[i]).toBe(1000 - i * 0.5);
  });
});
