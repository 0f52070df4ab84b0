import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMachine, type Machine } from "../../src/service/machine.ts";
import { type Buffer, type Device, DriverError } from "../../src/umd/index.ts";

function words(buffer: Buffer): Uint32Array {
  const view = buffer.map();
  return new Uint32Array(view.buffer, view.byteOffset, buffer.sizeBytes / 4);
}

describe("queues of one device", () => {
  let machine: Machine;
  let device: Device;
  beforeAll(() => {
    machine = createMachine({ memoryBytes: 0x1000_0000 });
    device = machine.openProcess("queues");
  });
  afterAll(() => machine.close());

  const transfer = () => device.createCommandBuffer({ queue: "transfer" }).begin();

  it("the copy engine fills, updates and copies, more than one packet's worth", async () => {
    const size = 9 << 20;
    const [a, b] = [device.createBoundBuffer(size), device.createBoundBuffer(size, "host")];
    const queries = device.createQueryPool(2);
    const update = Uint8Array.from({ length: 65_536 }, (_, i) => i * 3);
    const command = transfer();
    command
      .writeTimestamp(queries, 0)
      .fillBuffer(a, 0xdead_beef)
      .updateBuffer(a, 8 << 20, update);
    command
      .copyBuffer(a, b, [{ sizeBytes: size - 1 }])
      .writeTimestamp(queries, 1)
      .end();
    expect(await device.submit([command]).wait()).toBe("SUCCESS");
    const expected = new Uint32Array(size / 4).fill(0xdead_beef);
    new Uint8Array(expected.buffer).set(update, 8 << 20);
    expected[size / 4 - 1] = 0x00ad_beef;
    expect(sameWords(words(b), expected)).toBe(true);
    // 9 MiB filled and 9 MiB copied, 64 bytes a tick.
    expect((queries.result(1) ?? 0n) - (queries.result(0) ?? 0n)).toBeGreaterThanOrEqual(BigInt((18 << 20) / 64));
  });

  it("a binary semaphore orders the compute queue behind the copy engine, and is free again after its wait", async () => {
    const [a, b] = [device.createBoundBuffer(4096), device.createBoundBuffer(4096)];
    const semaphore = device.createSemaphore();
    for (let round = 1; round <= 3; round++) {
      const fill = transfer().fillBuffer(a, round).end();
      const copy = device.createCommandBuffer().begin().copyBuffer(a, b).end();
      device.submit([fill], { signal: [{ semaphore }] });
      const fence = device.submit([copy], { wait: [{ semaphore }] });
      expect(await fence.wait()).toBe("SUCCESS");
      expect(words(b)[1023]).toBe(round);
    }
    expect(semaphore.value()).toBe(0n);
    const unsignalled = () => device.submit([], { wait: [{ semaphore }] });
    expect(unsignalled).toThrow(/VALIDATION: wait 0 of .* a binary semaphore that nothing submitted will signal/);
  });

  it("a timeline lets submissions wait for values that come later, by the host or another queue", async () => {
    const timeline = device.createTimelineSemaphore(5n);
    const [a, b] = [device.createBoundBuffer(64), device.createBoundBuffer(64)];
    const copy = transfer().copyBuffer(a, b).end();
    const fill = device.createCommandBuffer().begin().fillBuffer(a, 77).end();
    device.submit([copy], { wait: [{ semaphore: timeline, value: 7n }], signal: [{ semaphore: timeline, value: 8n }] });
    device.submit([fill], { wait: [{ semaphore: timeline, value: 6n }], signal: [{ semaphore: timeline, value: 7n }] });
    expect(await device.waitSemaphores([{ semaphore: timeline, value: 8n }], { timeoutMs: 20 })).toBe("TIMEOUT");
    timeline.signal(6n);
    expect(await device.waitSemaphores([{ semaphore: timeline, value: 8n }])).toBe("SUCCESS");
    expect([words(b)[15], timeline.value()]).toEqual([77, 8n]);
    expect(() => timeline.signal(8n)).toThrow(/at 8 already/);
    expect(await device.waitSemaphores([{ semaphore: timeline, value: 99n }], { timeoutMs: 10 })).toBe("TIMEOUT");
  });

  it("memory freed in flight serves its work to the end, and its addresses come back only then", async () => {
    const timeline = device.createTimelineSemaphore();
    const [a, b] = [device.createBoundBuffer(4096), device.createBoundBuffer(4096)];
    words(a).fill(31);
    const va = a.va;
    const copy = transfer().copyBuffer(a, b).end();
    const fence = device.submit([copy], { wait: [{ semaphore: timeline, value: 1n }] });
    a.destroy();
    const early = [1, 2, 3].map(() => device.createBoundBuffer(4096));
    for (const buffer of early) words(buffer).fill(32);
    expect(early.map((buffer) => buffer.va)).not.toContain(va);
    timeline.signal(1n);
    expect(await fence.wait()).toBe("SUCCESS");
    expect(words(b)[1023]).toBe(31);
    expect(device.createBoundBuffer(4096).va).toBe(va);
  });

  it("a semaphore passes between devices of two machines", async () => {
    const other = createMachine({ memoryBytes: 0x0800_0000, worker: false });
    const there = other.openProcess("there");
    const here = device.createTimelineSemaphore();
    const remote = there.importSemaphore(here.export(), "timeline");
    const buffer = there.createBoundBuffer(64);
    const fill = there.createCommandBuffer().begin().fillBuffer(buffer, 9).end();
    there.submit([fill], { wait: [{ semaphore: remote, value: 1n }], signal: [{ semaphore: remote, value: 2n }] });
    device.submit([], { signal: [{ semaphore: here, value: 1n }] });
    expect(await device.waitSemaphores([{ semaphore: here, value: 2n }])).toBe("SUCCESS");
    expect(words(buffer)[0]).toBe(9);
    await other.close();
  });

  it("a copy that runs off its buffer is a fault of the copy engine that names packet and address", async () => {
    const bad = machine.openProcess("runs off");
    const good = machine.openProcess("bystander");
    const [a, b] = [bad.createBoundBuffer(8192), bad.createBoundBuffer(4096)];
    const command = bad.createCommandBuffer({ queue: "transfer" }).begin().copyBuffer(a, b).end();
    // The driver would not record it: lengthen the packet's count behind its back.
    const [memory] = command.submission().memories;
    const packet = memory?.map() ?? new Uint8Array();
    new Uint32Array(packet.buffer, packet.byteOffset, 2)[1] = 8191;
    await expect(bad.submit([command]).wait()).rejects.toThrow(DriverError);
    const report = machine.faultOf(bad);
    expect(report).toMatchObject({ kind: "NOT_MAPPED", address: b.va + 4096n });
    expect(report?.packet).toBe(
      `COPY_LINEAR count 8191 src 0x${a.va.toString(16).padStart(12, "0")} dst 0x${b.va.toString(16).padStart(12, "0")}`,
    );
    const buffer = good.createBoundBuffer(64);
    await good.submit([good.createCommandBuffer({ queue: "transfer" }).begin().fillBuffer(buffer, 4).end()]).wait();
    expect(words(buffer)[15]).toBe(4);
    expect(bad.lost).toBe(true);
  });

  it("a wait on memory that never comes ends at the watchdog, naming the packet", async () => {
    for (const queue of ["compute", "transfer"] as const) {
      const process = machine.openProcess(`waits on ${queue}`, { timeoutMs: 100 });
      const event = process.createEvent();
      const fence = process.submit([process.createCommandBuffer({ queue }).begin().waitEvents([event]).end()]);
      await expect(fence.wait()).rejects.toThrow(DriverError);
      const report = machine.faultOf(process);
      expect(report).toMatchObject({ kind: "HALTED", reason: "timeout" });
      const name = queue === "compute" ? "WAIT_REG_MEM" : "POLL_REGMEM";
      expect(report?.packet).toMatch(new RegExp(`^${name} .*address 0x${event.va.toString(16).padStart(12, "0")}`));
      process.destroy();
    }
  });
});

function sameWords(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

describe("examples/sdma-copy.ts", () => {
  it("copies with a packet filled in by hand, in under 60 lines", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const args = ["node_modules/tsx/dist/cli.mjs", "examples/sdma-copy.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      timeout: 60_000,
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^wait: 0$/m);
    expect(stdout).toMatch(/^copied: hello from the copy engine$/m);
  }, 60_000);
});
