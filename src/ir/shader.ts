/** The IR as `src/ir` holds it: what a snapshot or a text says, no more. Values and blocks are numbers from 0. */
export interface IrInstr {
  readonly op: string;
  /** 1 or 32; 0 without a result. */
  readonly width: number;
  readonly components: number;
  /** Bits in the order of `instrFlags`. */
  readonly flags: number;
  readonly imms: readonly number[];
  readonly srcs: readonly number[];
}

export interface IrBlock {
  readonly kind: "block";
  readonly preds: readonly number[];
  readonly instrs: readonly IrInstr[];
}

export interface IrIf {
  readonly kind: "if";
  readonly condition: number;
  readonly divergent: boolean;
  readonly thenNodes: readonly IrNode[];
  readonly elseNodes: readonly IrNode[];
}

export interface IrLoop {
  readonly kind: "loop";
  readonly divergent: boolean;
  readonly body: readonly IrNode[];
  readonly cont: readonly IrNode[];
}

export type IrNode = IrBlock | IrIf | IrLoop;

export interface IrShader {
  readonly stage: "compute" | "vertex" | "fragment";
  readonly name: string;
  readonly local: readonly [number, number, number];
  readonly ldsBytes: number;
  /** Bytes of an invocation's scratch memory. */
  readonly scratchBytes: number;
  /** Words of the tables of constants. */
  readonly table: readonly number[];
  /** Bits of each local variable. */
  readonly vars: readonly number[];
  readonly body: readonly IrNode[];
}

export const irStages = ["compute", "vertex", "fragment"] as const;
