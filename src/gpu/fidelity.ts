import { allOps, type Op } from "../isa/index.ts";

/** How an instruction's result compares with the hardware's. */
export type Fidelity = "exact" | "approximate" | "notModelled";

interface FidelityRow {
  /** The vendor's name, without the encoding. */
  readonly name: RegExp;
  readonly fidelity: Exclude<Fidelity, "exact">;
  readonly note: string;
}

/** Instructions that are not exact; docs/simulator.md says more. */
export const fidelityRows: readonly FidelityRow[] = [
  {
    name: /^v_(exp|log|sin|cos)_f(16|32)$/,
    fidelity: "approximate",
    note: "within 0.51 ulp of the true value; the hardware's own bits are not public",
  },
  {
    name: /^v_(rcp|rcp_iflag|rsq|sqrt)_f(16|32|64)$/,
    fidelity: "approximate",
    note: "rounded to nearest or one step beside; the hardware's own bits are not public",
  },
  {
    name: /^s_(memtime|memrealtime)$/,
    fidelity: "approximate",
    note: "the clock counts executed instructions",
  },
  {
    name: /^s_(nop|clause|inst_prefetch|setprio|sleep|waitcnt_depctr|icache_inv|wakeup|incperflevel|decperflevel)$/,
    fidelity: "notModelled",
    note: "timing only: changes no result",
  },
  { name: /^s_ttracedata(_imm)?$/, fidelity: "notModelled", note: "no thread trace" },
];

/** Cache instructions do nothing where memory is coherent at all times. */
const cacheRow: FidelityRow = {
  name: /^(buffer_gl[01]_inv|s_(dcache|gl1)_inv|s_waitcnt_vscnt)$/,
  fidelity: "notModelled",
  note: "caches are modelled in coherence mode only",
};

/** What a run met, by fidelity: names of instructions in the order of the rows. */
export interface FidelityReport {
  readonly exact: readonly string[];
  readonly approximate: readonly { readonly name: string; readonly note: string }[];
  readonly notModelled: readonly { readonly name: string; readonly note: string }[];
}

/** The row of an instruction's name; undefined: it is exact. */
export function fidelityOf(name: string, coherence: boolean): FidelityRow | undefined {
  const rows = coherence ? fidelityRows : [...fidelityRows, cacheRow];
  return rows.find((row) => row.name.test(name));
}

/** Sorts executed instructions (`Op` ids) by what is known of them. */
export function fidelityReport(executed: ReadonlySet<number>, coherence: boolean): FidelityReport {
  const met = new Map<string, Op>();
  for (const op of allOps()) if (executed.has(op.id)) met.set(op.name, op);
  const report = {
    exact: [] as string[],
    approximate: [] as { name: string; note: string }[],
    notModelled: [] as { name: string; note: string }[],
  };
  for (const name of met.keys()) {
    const row = fidelityOf(name, coherence);
    if (row === undefined) report.exact.push(name);
    else report[row.fidelity].push({ name, note: row.note });
  }
  return report;
}
