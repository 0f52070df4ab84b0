import type { Diagnostics } from "../diagnostics.ts";
import { containsType, type Member, partTest, scalarBits, scalarOf, type Type, vectorSize } from "../types/index.ts";
import type { Range } from "./base.ts";
import type { LayoutValue, Qualifiers } from "./qualifiers.ts";
import type { Capture } from "./tree.ts";

/** What one variable takes of a transform feedback buffer, in bytes. */
interface Taken extends Range {
  readonly name: string;
  readonly buffer: number;
  readonly from: number;
  readonly to: number;
  readonly align: number;
}

const wideParts = partTest((type) => bitsOf(type) === 64);
const plainParts = partTest((type) => bitsOf(type) === 32);

const noStrides: ReadonlyMap<number, number> = new Map();

/** Transform feedback: which bytes of which buffer are captured. Source: GLSL 4.60 section 4.4.2.1. */
export class Captures {
  private diagnostics!: Diagnostics;
  private taken: Taken[] = [];
  private readonly strides = new Map<number, { readonly value: number } & Range>();
  private defaultBuffer = 0;

  /** Nothing is captured yet. */
  begin(diagnostics: Diagnostics): void {
    this.diagnostics = diagnostics;
    if (this.taken.length > 0) this.taken = [];
    if (this.strides.size > 0) this.strides.clear();
    this.defaultBuffer = 0;
  }

  /** `layout(xfb_buffer = 1, xfb_stride = 64) out;`: what holds for the declarations behind it. */
  setDefault(q: Qualifiers): void {
    const buffer = q.layout.get("xfb_buffer")?.value;
    if (buffer !== undefined) this.defaultBuffer = buffer;
    this.stride(this.defaultBuffer, q.layout.get("xfb_stride"));
  }

  /** What a variable's qualifiers capture; undefined where they capture nothing. */
  variable(q: Qualifiers, name: string, type: Type, place: Range): Capture | undefined {
    if (q.layout.size === 0) return undefined;
    const buffer = this.bufferOf(q);
    const offset = q.layout.get("xfb_offset");
    if (offset?.value === undefined || !this.take(name, type, buffer, offset.value, offset, place)) return undefined;
    return { buffer, offset: offset.value };
  }

  /** Members of a block with their offsets: their own ones, or the next that fit where the block has one. */
  members(q: Qualifiers, members: readonly Member[]): { readonly buffer: number; readonly members: readonly Member[] } {
    const buffer = this.bufferOf(q);
    let next = q.layout.get("xfb_offset")?.value;
    const placed = members.map((member) => {
      const { xfbBuffer, xfbStride, xfbOffset } = member.layout;
      if (xfbBuffer !== undefined && xfbBuffer !== buffer) {
        const values = { name: member.name, first: buffer, second: xfbBuffer };
        this.diagnostics.error("GLSL_XFB_BUFFER", values, member.position, member.end);
      }
      if (xfbStride !== undefined) {
        this.stride(buffer, { name: "xfb_stride", value: xfbStride, position: member.position, end: member.end });
      }
      if (member.type.kind === "error" || (xfbOffset === undefined && next === undefined)) return member;
      const align = captureAlign(member.type);
      const offset = xfbOffset ?? Math.ceil(next! / align) * align;
      if (next !== undefined) next = offset + captureBytes(member.type);
      if (!this.take(member.name, member.type, buffer, offset, member, member)) return member;
      return { ...member, layout: { ...member.layout, xfbOffset: offset } };
    });
    return { buffer, members: placed };
  }

  /** The stride of each buffer that something is captured into; what is too small is reported. */
  finish(): ReadonlyMap<number, number> {
    if (this.taken.length === 0) return noStrides;
    const strides = new Map<number, number>();
    const aligns = new Map<number, number>();
    for (const { buffer, to, align } of this.taken) {
      strides.set(buffer, Math.max(to, strides.get(buffer) ?? 0));
      aligns.set(buffer, Math.max(align, aligns.get(buffer) ?? 0));
    }
    for (const [buffer, least] of strides) {
      const align = aligns.get(buffer)!;
      const given = this.strides.get(buffer);
      strides.set(buffer, given?.value ?? Math.ceil(least / align) * align);
      if (given === undefined || (given.value >= least && given.value % align === 0)) continue;
      const values = { buffer, stride: given.value, align, least };
      this.diagnostics.error("GLSL_XFB_STRIDE_SIZE", values, given.position, given.end);
    }
    return strides;
  }

  /** The buffer that a declaration names, or the default one. */
  bufferOf(q: Qualifiers): number {
    const buffer = q.layout.get("xfb_buffer")?.value ?? this.defaultBuffer;
    this.stride(buffer, q.layout.get("xfb_stride"));
    return buffer;
  }

  private stride(buffer: number, stride: LayoutValue | undefined): void {
    if (stride?.value === undefined) return;
    const { value, position, end } = stride;
    const known = this.strides.get(buffer)?.value;
    if (known === undefined) this.strides.set(buffer, { value, position, end });
    else if (known !== value) {
      this.diagnostics.error("GLSL_XFB_STRIDE", { buffer, first: known, second: value }, position, end);
    }
  }

  private take(name: string, type: Type, buffer: number, offset: number, at: Range, place: Range): boolean {
    if (type.kind === "error") return false;
    const align = captureAlign(type);
    if (offset % align !== 0) {
      this.diagnostics.error("GLSL_OFFSET_ALIGN", { offset, align }, at.position, at.end);
      return false;
    }
    const { position, end } = place;
    const one: Taken = { name, buffer, from: offset, to: offset + captureBytes(type), align, position, end };
    const first = this.taken.find((each) => each.buffer === buffer && each.from < one.to && one.from < each.to);
    if (first !== undefined) {
      const notes = [{ message: `'${first.name}' is there`, position: first.position, end: first.end }];
      const values = { offset: Math.max(one.from, first.from), buffer, name: first.name };
      this.diagnostics.error("GLSL_XFB_OVERLAP", values, at.position, at.end, notes);
    }
    this.taken.push(one);
    return true;
  }
}

function bitsOf(type: Type): number {
  const scalar = scalarOf(type);
  return scalar === undefined ? 0 : scalarBits(scalar);
}

/** Bytes that an offset is a multiple of: those of the widest component. */
function captureAlign(type: Type): number {
  return containsType(type, wideParts) ? 8 : containsType(type, plainParts) ? 4 : 2;
}

/** Bytes of a value in a capture buffer: its components, each behind the one before as its width allows. */
function captureBytes(type: Type): number {
  switch (type.kind) {
    case "array":
      return (type.size ?? 1) * captureBytes(type.element);
    case "struct": {
      let bytes = 0;
      for (const member of type.members) {
        const align = captureAlign(member.type);
        bytes = Math.ceil(bytes / align) * align + captureBytes(member.type);
      }
      const whole = captureAlign(type);
      return Math.ceil(bytes / whole) * whole;
    }
    case "matrix":
      return type.columns * type.rows * (bitsOf(type) >> 3);
    default:
      return vectorSize(type) * (bitsOf(type) >> 3);
  }
}
