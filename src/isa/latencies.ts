/**
 * Cycles until the result of an instruction may be read without a stall: the scheduler's model and that of the estimate of
 * cycles. ALU: the public RDNA scheduling model of LLVM. Memory: the near caches of docs/simulator.md, between hit and miss;
 * what matters is their order of size (docs/adr/0014-list-scheduling.md).
 */
export const latencies = {
  scalar: 2,
  vector: 5,
  transcendental: 10,
  double: 22,
  lds: 64,
  smem: 140,
  vmem: 300,
  sample: 400,
} as const;
