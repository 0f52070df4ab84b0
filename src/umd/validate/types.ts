import type { Reflection } from "../../codeobj/index.ts";

/** What the layer needs to know of the driver's objects; the driver's classes fit these shapes. */
export interface LayerMemory {
  readonly handle: number;
  readonly va: bigint;
  readonly coherent: boolean;
  /** The CPU's cache of it holds writes that were not flushed. */
  readonly unflushed: boolean;
}

export interface LayerBuffer {
  readonly sizeBytes: number;
  readonly va: bigint;
  readonly memory: LayerMemory;
}

export interface LayerSet {
  readonly layout: { readonly dynamic: readonly number[] };
  rangesOf(binding: number): readonly {
    readonly buffer: LayerBuffer;
    readonly offsetBytes?: number;
    readonly rangeBytes?: number;
  }[];
}

export interface LayerPipeline {
  readonly entry: { readonly reflection: Reflection };
}

export interface LayerCommands {
  readonly simultaneousUse: boolean;
}

export interface LayerPoint {
  readonly semaphore: { readonly timeline: boolean; submitted(): bigint };
  readonly value?: bigint;
}

/** What the layer finds. The driver goes on: these are uses that real hardware may punish later. */
export type ApiRule =
  | "COMMANDS_PENDING"
  | "MISSING_BARRIER"
  | "MISSING_HOST_BARRIER"
  | "READ_BEFORE_FENCE"
  | "NOBODY_SIGNALS"
  | "NOT_SUBMITTED"
  | "IN_USE"
  | "NOT_FLUSHED"
  | "NOT_INVALIDATED"
  | "DESCRIPTOR_UPDATED"
  | "PUSH_CONSTANTS_UNSET"
  | "LEAK";

export interface ApiMessage {
  readonly rule: ApiRule;
  /** One sentence. */
  readonly text: string;
  /** The call at fault, `file:line:column`. */
  readonly place: string;
  /** The earlier call that it collides with. */
  readonly other?: string;
}
