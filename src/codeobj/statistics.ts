/** What the contract's `stats` holds. An instruction is one ISA instruction; `s_code_end` padding is excluded. */
export interface Statistics {
  readonly instructions: number;
  readonly codeSizeBytes: number;
  /** Highest register used + 1. */
  readonly sgprs: number;
  readonly vgprs: number;
  readonly sgprsAllocated: number;
  readonly vgprsAllocated: number;
  readonly spilledSgprs: number;
  readonly spilledVgprs: number;
  readonly ldsBytes: number;
  readonly scratchBytes: number;
  /** Waves per SIMD that registers and LDS allow. */
  readonly occupancyWaves: number;
  readonly branches: number;
  readonly waits: number;
  readonly salu: number;
  readonly valu: number;
  readonly smem: number;
  readonly vmem: number;
  readonly lds: number;
  readonly exports: number;
  readonly estimatedCycles: number;
  /** Multiplies and adds that the compiler joined into one rounding (floating-point contraction). */
  readonly contractions: number;
}
