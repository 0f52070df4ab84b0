/** The passes of the core: names as in reports, dumps and tests. Row i is pass number i + 1. */
export const passRows: readonly { readonly name: string; readonly prose: string }[] = [
  { name: "lift", prose: "SPIR-V words to IR" },
  { name: "lower-vars-to-ssa", prose: "local variables to values and phis" },
  { name: "opt-copy-prop", prose: "reads through instructions that pass a value on" },
  { name: "opt-const-fold", prose: "computes instructions over constants" },
  { name: "opt-algebraic", prose: "rewrites by exact rules" },
  { name: "opt-cse", prose: "merges equal pure instructions" },
  { name: "opt-dce", prose: "deletes what nobody needs" },
  { name: "opt-dead-cf", prose: "removes control flow that decides nothing" },
  { name: "opt-if-convert", prose: "small ifs to selects" },
  { name: "lower-idiv", prose: "integer division to multiplication and shifts" },
  { name: "lower-transcendentals", prose: "division, sine and cosine to hardware forms" },
  { name: "opt-contract-fma", prose: "products and sums to fused multiply-add" },
  { name: "opt-offsets", prose: "constants of addresses into the instruction" },
  { name: "opt-licm", prose: "arithmetic out of loops" },
  { name: "lower-lcssa", prose: "values leave loops through phis" },
  { name: "opt-bindings", prose: "buffers behind pointers that turn out to be known" },
  { name: "divergence", prose: "what may differ between lanes" },
  { name: "lower-bool-phis", prose: "divergent boolean phis to 32 bits" },
  { name: "opt-memory", prose: "loads of known values, stores that are stored over" },
  { name: "opt-vectorize", prose: "neighbouring accesses to wider ones" },
  { name: "opt-unroll", prose: "short loops of a known length to copies of their body" },
  { name: "opt-wave", prose: "ways between lanes for what is the same in all of them" },
  { name: "opt-jump-thread", prose: "ifs whose condition is known from an earlier if" },
  { name: "opt-sink", prose: "arithmetic into the branch that alone reads it" },
  { name: "opt-range", prose: "what bounds and possible bits of values decide" },
  { name: "opt-reassociate", prose: "chains of sums, products and bits in a better order" },
  { name: "opt-half", prose: "arithmetic of 16-bit floats to instructions of that width" },
  { name: "opt-pack", prose: "equal arithmetic on two 16-bit scalars to one instruction" },
  { name: "opt-narrow", prose: "texels and attributes with the components that are read" },
];

/** The phases of the back end behind the passes, in the order in which they report first; row i is phase i. */
export const phaseRows: readonly { readonly name: string; readonly prose: string }[] = [
  { name: "select", prose: "IR to machine instructions over virtual registers" },
  { name: "schedule", prose: "LDS accesses in pairs; loads early, by latencies" },
  { name: "liveness", prose: "where each virtual register lives" },
  { name: "coalesce", prose: "copies to nothing" },
  { name: "allocate", prose: "registers, where all fit" },
  { name: "spill", prose: "what does not fit to scratch and lanes" },
  { name: "cleanup", prose: "register operands, branches, loops turned, pairs of moves, short forms" },
  { name: "waits", prose: "waits for counters, clauses" },
  { name: "encode", prose: "far branches, words, the result" },
];

/** Number of the pass with this name, from 1. */
export const passNumbers: ReadonlyMap<string, number> = new Map(passRows.map((row, i) => [row.name, i + 1]));
