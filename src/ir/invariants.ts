import type { ImmName } from "./ops.ts";

/** What the validator checks, in the order of the rules' numbers, from 1 on. */
export const invariantRows = [
  {
    name: "lists",
    text: "a list starts and ends with a block and alternates blocks with ifs and loops; links agree both ways",
  },
  { name: "edges", text: "a predecessor list holds exactly the reachable blocks whose successor it is" },
  { name: "unreachable", text: "an unreachable block is empty and the last of its list" },
  { name: "phis", text: "phis come first and have one source for each predecessor" },
  {
    name: "jumps",
    text: "a jump is the last instruction of its block and the last of its list; break and continue stand in a loop, continue not in its cont part; end only in a list of the function",
  },
  { name: "sources", text: "an instruction has as many sources as its op's row says" },
  { name: "shapes", text: "widths and components of result and sources are as the op's row says" },
  { name: "dominance", text: "a source is a linked instruction with a result that dominates its reader" },
  { name: "uses", text: "use lists and counts hold exactly the source slots that read the value" },
  {
    name: "immediates",
    text: "immediates are in the range of their row; variables exist and have the width of their accesses",
  },
  { name: "lowered", text: "no op that a lower-* pass removes reaches the back end" },
] as const;

/** Values that an immediate may have: all below `below`, or those listed (each below 32). */
export type ImmRange = { readonly below: number } | { readonly oneOf: readonly number[] };

const component = { below: 4 };
const axis = { component: { below: 3 } };
/** Locations 64 and above are those of built-in variables. */
const attribute = { index: { below: 128 }, component };
/** Whole words, or one scalar of 8 or 16 bits. */
const access = { bits: { oneOf: [0, 8, 16] } };
const atomic = { atomic: { below: 10 } };
const ordering = { scope: { below: 7 }, storage: { below: 8 } };
const image = { index: { below: 1 << 24 } };

type Ranges = Readonly<Partial<Record<ImmName, ImmRange>>>;

/** Ranges of immediates by op; one that is not named may have any value. */
export const immediateRanges: Readonly<Record<string, Ranges>> = {
  extract: { index: { below: 16 } },
  load_ubo: access,
  load_ssbo: access,
  store_ssbo: access,
  load_shared: access,
  store_shared: access,
  load_scratch: access,
  store_scratch: access,
  ssbo_atomic: atomic,
  shared_atomic: atomic,
  texel_atomic: atomic,
  barrier: ordering,
  memory_barrier: ordering,
  wave_reduce: { index: { below: 13 } },
  wave_scan: { index: { below: 13 }, bits: { oneOf: [0, 1, 2, 4, 8, 16] } },
  load_local_id: axis,
  load_workgroup_id: axis,
  load_num_workgroups: axis,
  load_bary: { index: { oneOf: [0, 1, 2, 4, 5, 6] }, component: { below: 2 } },
  interp: attribute,
  interp_flat: attribute,
  load_frag_coord: { component },
  quad_perm: { index: { below: 256 } },
  lane_xor: { index: { below: 32 } },
  load_draw: axis,
  load_vertex: { bits: { below: 128 } },
  export: { index: { below: 256 + 128 }, bits: { below: 128 } },
  image_sample: image,
  image_sample_quad: image,
  image_query_lod: image,
  image_load: image,
  image_store: image,
  image_atomic: image,
  image_size: image,
  image_samples: image,
};
