import type { Access, BarrierScope, QueueName } from "../encode.ts";
import type { ApiMessage, LayerMemory } from "./types.ts";

/** One command's use of bytes of an allocation. */
export interface MemoryUse {
  readonly memory: LayerMemory;
  readonly start: number;
  readonly end: number;
  readonly access: Access;
  readonly what: string;
  readonly place: string;
}

/** What a command buffer does, in order: uses of one command at once, or a barrier. */
export type Operation = { readonly uses: readonly MemoryUse[] } | { readonly scope: BarrierScope };

interface Past extends MemoryUse {
  readonly queue: QueueName;
  readonly fence: bigint;
  /** What barriers since then have made it safe for; `all`: anything. */
  readonly safeFor: Set<Access | "all">;
}

const writes: ReadonlySet<Access> = new Set<Access>(["shaderWrite", "transferWrite", "hostWrite"]);
/** Uses kept: older ones of one long stream are forgotten. */
const KEPT = 4096;

/** Follows memory through submissions, and tells of uses that no barrier orders. */
export class HazardTracker {
  readonly #report: (message: ApiMessage) => void;
  #past: Past[] = [];
  /** Memory that ended submissions wrote, without a barrier towards the host. */
  readonly #hostBehind = new Map<LayerMemory, MemoryUse>();
  readonly #told = new Set<string>();

  constructor(report: (message: ApiMessage) => void) {
    this.#report = report;
  }

  /** Commands of one submission, in order behind everything before. */
  run(queue: QueueName, operations: readonly Operation[], fence: bigint): void {
    for (const operation of operations) {
      if ("scope" in operation) this.#barrier(operation.scope);
      else {
        for (const use of operation.uses) this.#check(use);
        for (const use of operation.uses) this.#past.push({ ...use, queue, fence, safeFor: new Set() });
      }
    }
    if (this.#past.length > KEPT) this.#past = this.#past.slice(-KEPT);
  }

  #barrier({ from, to, range }: BarrierScope): void {
    for (const use of this.#past) {
      // A read only has to be over: a barrier after anything of its stage waits for it.
      const over = (access: Access) =>
        access === use.access || (!writes.has(use.access) && stages[access] === stages[use.access]);
      if (from !== undefined && !from.some(over)) continue;
      if (range !== undefined && !touches(use, range)) continue;
      for (const access of to ?? (["all"] as const)) use.safeFor.add(access);
    }
    if (to === undefined || to.includes("hostRead")) this.#hostBehind.clear();
  }

  #check(use: MemoryUse): void {
    const isWrite = writes.has(use.access);
    for (const past of this.#past) {
      if (past.memory !== use.memory || past.end <= use.start || use.end <= past.start) continue;
      if (!isWrite && !writes.has(past.access)) continue;
      if (past.safeFor.has("all") || past.safeFor.has(use.access)) continue;
      // Behind a read, a write needs the order only: any barrier over the read gives it.
      if (!writes.has(past.access) && past.safeFor.size > 0) continue;
      const text = `${use.what} needs a barrier: it ${isWrite ? "writes" : "reads"} bytes of BO ${use.memory.handle} that ${past.what} ${writes.has(past.access) ? "writes" : "reads"}`;
      this.#tell({ rule: "MISSING_BARRIER", text, place: use.place, other: past.place });
      return;
    }
  }

  /** The same collision of the same two places is told once. */
  #tell(message: ApiMessage): void {
    const key = `${message.rule} ${message.place} ${message.other} ${message.text}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#report(message);
  }

  /** Everything so far is ordered before what comes. */
  synchronise(): void {
    for (const use of this.#past) use.safeFor.add("all");
  }

  /** The host saw the fence: its work and all before it are over. Answers what that work wrote. */
  completed(queue: QueueName, fence: bigint): readonly MemoryUse[] {
    const written: MemoryUse[] = [];
    this.#past = this.#past.filter((use) => {
      if (use.queue !== queue || use.fence > fence) return true;
      if (writes.has(use.access)) written.push(use);
      if (writes.has(use.access) && !use.safeFor.has("all") && !use.safeFor.has("hostRead")) {
        this.#hostBehind.set(use.memory, use);
      } else if (writes.has(use.access)) this.#hostBehind.delete(use.memory);
      return false;
    });
    return written;
  }

  /** The host looks at memory; `held` are uses to come of what was submitted. */
  mapped(memory: LayerMemory, held: readonly MemoryUse[], place: string): void {
    const running = [...this.#past, ...held].find((use) => use.memory === memory && writes.has(use.access));
    if (running !== undefined) {
      const text = `map of BO ${memory.handle} while ${running.what} may still write it: wait for its fence first`;
      this.#tell({ rule: "READ_BEFORE_FENCE", text, place, other: running.place });
      return;
    }
    const behind = this.#hostBehind.get(memory);
    if (behind === undefined) return;
    const text = `map of BO ${memory.handle}, which ${behind.what} wrote without a barrier towards the host`;
    this.#tell({ rule: "MISSING_HOST_BARRIER", text, place, other: behind.place });
  }
}

type Stage = "shader" | "indirect" | "transfer" | "host";

const stages: Readonly<Record<Access, Stage>> = {
  shaderRead: "shader",
  shaderWrite: "shader",
  uniformRead: "shader",
  indirectRead: "indirect",
  transferRead: "transfer",
  transferWrite: "transfer",
  hostRead: "host",
  hostWrite: "host",
};

function touches(use: MemoryUse, range: NonNullable<BarrierScope["range"]>): boolean {
  const start = use.memory.va + BigInt(use.start);
  const end = use.memory.va + BigInt(use.end);
  return start < range.va + BigInt(range.sizeBytes) && range.va < end;
}
