import type { IrShader } from "../../../src/ir/index.ts";
import { type Memory, tableOf } from "./memory.ts";
import { Wave } from "./wave.ts";

export interface Dispatch extends Pick<Memory, "buffer" | "push" | "at" | "texelBytes" | "images"> {
  readonly groups: readonly [number, number, number];
  /** Blocks that the waves may enter, all together. */
  readonly maxSteps?: number;
}

/** Runs a compute shader, workgroup after workgroup; whether all that ran has given bits. Errors: NotCovered, Endless. */
export function runDispatch(shader: IrShader, dispatch: Dispatch): { readonly isExact: boolean } {
  const [sx, sy, sz] = shader.local;
  const size = sx * sy * sz;
  const table = tableOf(shader);
  const steps = { left: dispatch.maxSteps ?? 100_000 };
  let isExact = true;
  const [gx, gy, gz] = dispatch.groups;
  for (let group = 0; group < gx * gy * gz; group++) {
    const id = [group % gx, Math.floor(group / gx) % gy, Math.floor(group / (gx * gy))];
    const shared = new Uint8Array(shader.ldsBytes);
    const waves = Array.from({ length: Math.ceil(size / 32) }, (_, w) => {
      const count = Math.min(32, size - 32 * w);
      const scratch =
        shader.scratchBytes === 0 ? [] : Array.from({ length: count }, () => new Uint8Array(shader.scratchBytes));
      const memory: Memory = { ...dispatch, buffer: dispatch.buffer.bind(dispatch), table, shared, scratch };
      const wave = new Wave(
        shader,
        {
          memory,
          lanes: count === 32 ? -1 : (1 << count) - 1,
          system(op, imm, lane) {
            const k = 32 * w + lane;
            const component = imm("component");
            if (op === "load_local_id") return [k % sx, Math.floor(k / sx) % sy, Math.floor(k / (sx * sy))][component]!;
            if (op === "load_workgroup_id") return id[component]!;
            if (op === "load_num_workgroups") return dispatch.groups[component]!;
            throw new Error(`${op} in a compute shader`);
          },
        },
        steps,
      );
      return { wave, run: wave.run() };
    });
    let left = waves;
    while (left.length > 0) left = left.filter(({ run }) => run.next().done !== true);
    isExact &&= waves.every(({ wave }) => wave.isExact);
  }
  return { isExact };
}
