import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMachine, type Machine } from "../../src/service/machine.ts";
import { apiCases } from "./misuse/api.ts";
import { Bench } from "./misuse/bench.ts";
import { gpuCases } from "./misuse/gpu.ts";
import { kernelCases } from "./misuse/kernel.ts";

const cases = [...apiCases, ...kernelCases, ...gpuCases];

describe("misuse", () => {
  let machine: Machine;
  beforeAll(() => {
    machine = createMachine({ memoryBytes: 0x1000_0000 });
  });
  afterAll(() => machine.close());

  it("has its forty kinds", () => {
    expect([...new Set(cases.map(([number]) => number))]).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  for (const [number, about, run] of cases) {
    it(`${number}: ${about}; then another process's dispatch succeeds`, async () => {
      const bench = new Bench(machine);
      try {
        await run(bench);
        await bench.good();
      } finally {
        bench.close();
      }
    });
  }
});
