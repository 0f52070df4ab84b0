import type { Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";
import { imageAddressDwords, imageDataDwords } from "./image.ts";
import { SourceCode, sgprCount } from "./registers.ts";
import type { Operand } from "./table.ts";

/** What an instruction does with s0…s105 (bits 0…105) and v0…v255 (bits 256…511); VCC, EXEC and M0 have no bits. */
export interface RegisterUse {
  readonly reads: bigint;
  /** Every lane of EXEC gets a new value: the old one is not needed. */
  readonly writes: bigint;
  /** Written in part, or perhaps: the old value may still be needed. */
  readonly mayWrite: bigint;
}

const sgprBits = (1n << BigInt(sgprCount)) - 1n;
/** Bits of VGPRs; those of SGPRs stand below. */
export const vgprBits = ((1n << 256n) - 1n) << BigInt(SourceCode.vgpr0);

/** Registers from an operand code on, those that are counted. */
function range(code: number, dwords: number): bigint {
  if (dwords <= 0) return 0n;
  return (((1n << BigInt(dwords)) - 1n) << BigInt(code)) & (code >= SourceCode.vgpr0 ? vgprBits : sgprBits);
}

const vgprs = (number: number, dwords: number) => range(SourceCode.vgpr0 + number, dwords);

class Use {
  reads = 0n;
  writes = 0n;
  mayWrite = 0n;

  read(registers: bigint): void {
    this.reads |= registers;
  }

  /** A destination; `isPartial` where its old value goes into the new one. */
  write(registers: bigint, isPartial = false): void {
    if (isPartial) {
      this.reads |= registers;
      this.mayWrite |= registers;
    } else this.writes |= registers;
  }
}

/** Reads and writes of SGPRs and VGPRs. Source: RDNA2 ISA, the formats' chapters. */
export function registerUse(instruction: Instruction): RegisterUse {
  const use = new Use();
  switch (instruction.op.format) {
    case "SMEM":
      scalarMemory(instruction, use);
      break;
    case "MUBUF":
    case "MTBUF":
      buffer(instruction, use);
      break;
    case "MIMG":
      image(instruction, use);
      break;
    case "EXP":
      exported(instruction, use);
      break;
    case "FLAT":
    case "SCRATCH":
    case "GLOBAL":
      flat(instruction, use);
      break;
    default:
      plain(instruction, use);
  }
  return use;
}

function scalarMemory({ op, fields }: Instruction, use: Use): void {
  if (op.dst[0]) use.write(range(fields.sdata!, op.dst[0].dwords));
  if (op.src[0] === undefined) return;
  use.read(range(fields.sbase! * 2, op.src[0].dwords));
  use.read(range(fields.soffset!, 1));
}

/** Data of a memory instruction whose load, store and returned value share a field. */
function sharedData({ op, fields }: Instruction, use: Use, dwords: (o: Operand) => number): void {
  const [source] = op.src;
  const [result] = op.dst;
  const isAtomic = (op.flags & Flag.Atomic) !== 0;
  if (source && (op.flags & Flag.Load) === 0) use.read(vgprs(fields.vdata!, dwords(source)));
  if (result && (!isAtomic || fields.glc === 1)) {
    use.write(vgprs(fields.vdata!, dwords(result)), (op.flags & Flag.TiedDst) !== 0);
  }
}

function buffer(instruction: Instruction, use: Use): void {
  const { op, fields } = instruction;
  if ((op.flags & Flag.Cache) !== 0) return;
  // With lds the data goes past the registers.
  if (fields.lds !== 1) sharedData(instruction, use, ({ dwords }) => dwords + fields.tfe!);
  use.read(vgprs(fields.vaddr!, fields.offen! + fields.idxen!));
  use.read(range(fields.srsrc! * 4, 4));
  use.read(range(fields.soffset!, 1));
}

function image(instruction: Instruction, use: Use): void {
  const { op, fields, addresses } = instruction;
  sharedData(instruction, use, () => imageDataDwords(op, fields));
  const count = imageAddressDwords(op, fields);
  if (addresses === undefined) use.read(vgprs(fields.vaddr!, count));
  else for (const number of [fields.vaddr!, ...addresses].slice(0, count)) use.read(vgprs(number, 1));
  use.read(range(fields.srsrc! * 4, fields.r128 === 1 ? 4 : 8));
  if ((op.flags & Flag.Sampler) !== 0) use.read(range(fields.ssamp! * 4, 4));
}

function exported({ fields }: Instruction, use: Use): void {
  const { en = 0, compr } = fields;
  // Compressed: two 16-bit components a register, enabled in pairs.
  const enabled = compr === 1 ? Number((en & 3) !== 0) | (Number((en & 12) !== 0) << 1) : en;
  for (let k = 0; k < 4; k++) if (((enabled >> k) & 1) !== 0) use.read(vgprs(fields[`src${k}`]!, 1));
}

function flat({ op, fields }: Instruction, use: Use): void {
  const returns = (op.flags & Flag.Atomic) !== 0 ? fields.glc === 1 : fields.lds === 0;
  if (op.dst[0] && returns) use.write(vgprs(fields.vdst!, op.dst[0].dwords), (op.flags & Flag.TiedDst) !== 0);
  if (op.src[0]) use.read(vgprs(fields.data!, op.src[0].dwords));
  const saddr = fields.saddr!;
  const hasBase = op.format !== "FLAT" && saddr !== SourceCode.null && saddr !== SourceCode.execHi;
  if (hasBase) use.read(range(saddr, op.format === "GLOBAL" ? 2 : 1));
  if ((op.flags & Flag.AddTid) !== 0) return;
  if (op.format === "SCRATCH") use.read(vgprs(fields.addr!, saddr === SourceCode.null ? 1 : 0));
  else use.read(vgprs(fields.addr!, hasBase ? 1 : 2));
}

/** Registers of one operand of a scalar, vector, LDS or interpolation instruction. */
function operandRegisters({ second, fields }: Instruction, o: Operand): bigint {
  if (o.field === undefined || o.dwords === 0) return 0n;
  const value = fields[o.field]!;
  if (second !== undefined && o.field === "src0") {
    const number = second.fields.src0!;
    return second.fields.src0Scalar === 1 ? range(number, o.dwords) : vgprs(number, o.dwords);
  }
  if (second?.fields.src1Scalar === 1 && o.field === "src1") return range(value, o.dwords);
  return o.kind === "vgpr" && value < 256 && value !== SourceCode.ldsDirect
    ? vgprs(value, o.dwords)
    : range(value, o.dwords);
}

/** Whether the destination keeps lanes or bytes that the instruction leaves alone. */
function keepsOld({ op, fields, second }: Instruction): boolean {
  if ((op.flags & Flag.TiedDst) !== 0 || ((fields.opSel ?? 0) & 8) !== 0) return true;
  if (second === undefined) return false;
  const { boundCtrl, rowMask, bankMask, dstUnused } = second.fields;
  if (second.form === "DPP16") return boundCtrl === 0 || rowMask !== 15 || bankMask !== 15;
  return second.form === "SDWA" && op.format !== "VOPC" && dstUnused === 2;
}

function plain(instruction: Instruction, use: Use): void {
  const { op, second } = instruction;
  const isPartial = keepsOld(instruction);
  const isRelative = /(mov|swap)rel/.test(op.name);
  const all = (o: Operand, registers: bigint): bigint => {
    if (!isRelative || registers === 0n) return registers;
    // M0 tells which register from this one on.
    const lowest = registers & -registers;
    return (o.kind === "sgpr" || registers < 1n << 256n ? sgprBits : vgprBits) & -lowest;
  };
  for (const o of op.src) use.read(all(o, operandRegisters(instruction, o)));
  for (const o of op.dst) {
    const registers = all(o, operandRegisters(instruction, o));
    if (isRelative) use.mayWrite |= registers;
    else use.write(registers, isPartial);
  }
  if (op.name === "v_swap_b32") for (const o of op.src) use.write(operandRegisters(instruction, o));
  if (op.format === "VOPC" && second?.form === "SDWA" && second.fields.omod! >> 1 === 1) {
    const { dstSel = 0, dstUnused = 0, clamp = 0, omod = 0 } = second.fields;
    use.write(range(dstSel | (dstUnused << 3) | (clamp << 5) | ((omod & 1) << 6), 1));
  }
}
