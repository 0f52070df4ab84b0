import { blankType } from "./shape.ts";

/** What an opaque type is: a combined sampler, an image to sample, to store to, of a subpass, a sampler alone, a counter. */
type OpaqueFamily = "sampled" | "texture" | "image" | "subpass" | "sampler" | "counter";

type OpaqueDim = "1D" | "2D" | "3D" | "Cube" | "Rect" | "Buffer" | "SubpassData";

/** A sampler, texture, image, subpass input or atomic counter. One object for each name and format. */
export interface OpaqueType {
  readonly kind: "opaque";
  readonly name: string;
  readonly family: OpaqueFamily;
  /** Component type of its texels. */
  readonly scalar: "float" | "int" | "uint";
  readonly dim: OpaqueDim;
  readonly arrayed: boolean;
  readonly multisampled: boolean;
  readonly shadow: boolean;
  /** SPIR-V's name of the image format; `Unknown` where none is given. */
  readonly format: string;
}

const pattern =
  /^([iu]?)(?:(sampler|texture|image)(1D|2D|3D|Cube|2DRect|Buffer|2DMS)(Array)?(Shadow)?|(subpassInput)(MS)?)$/;

/** The opaque type that a keyword names. */
export function parseOpaque(name: string): OpaqueType | undefined {
  const type = blankType("opaque");
  type.name = name;
  type.scalar = "float";
  type.dim = "2D";
  type.format = "Unknown";
  if (name === "atomic_uint") {
    type.family = "counter";
    return type as OpaqueType;
  }
  if (name === "sampler" || name === "samplerShadow") {
    type.family = "sampler";
    type.shadow = name !== "sampler";
    return type as OpaqueType;
  }
  const parts = pattern.exec(name);
  if (parts === null) return undefined;
  type.scalar = parts[1] === "i" ? "int" : parts[1] === "u" ? "uint" : "float";
  if (parts[6] !== undefined) {
    type.family = "subpass";
    type.dim = "SubpassData";
    type.multisampled = parts[7] !== undefined;
    return type as OpaqueType;
  }
  const shape = parts[3]!;
  type.family = parts[2] === "sampler" ? "sampled" : (parts[2] as "texture" | "image");
  type.dim = shape === "2DMS" ? "2D" : shape === "2DRect" ? "Rect" : (shape as OpaqueDim);
  type.arrayed = parts[4] !== undefined;
  type.multisampled = shape === "2DMS";
  type.shadow = parts[5] !== undefined;
  return type as OpaqueType;
}

const formatted = new Map<string, OpaqueType>();

/** The same image type with a format. */
export function withFormat(type: OpaqueType, format: string): OpaqueType {
  const key = `${type.name} ${format}`;
  let result = formatted.get(key);
  if (result === undefined) {
    result = Object.assign(blankType("opaque"), type, { format }) as OpaqueType;
    formatted.set(key, result);
  }
  return result;
}

/** Layout names of image formats: SPIR-V's name and the component type of the images that may have it. Source: GLSL 4.60 section 4.4.7. */
export const imageFormats: Readonly<Record<string, readonly [string, OpaqueType["scalar"]]>> = {
  rgba32f: ["Rgba32f", "float"],
  rgba16f: ["Rgba16f", "float"],
  rg32f: ["Rg32f", "float"],
  rg16f: ["Rg16f", "float"],
  r11f_g11f_b10f: ["R11fG11fB10f", "float"],
  r32f: ["R32f", "float"],
  r16f: ["R16f", "float"],
  rgba16: ["Rgba16", "float"],
  rgb10_a2: ["Rgb10A2", "float"],
  rgba8: ["Rgba8", "float"],
  rg16: ["Rg16", "float"],
  rg8: ["Rg8", "float"],
  r16: ["R16", "float"],
  r8: ["R8", "float"],
  rgba16_snorm: ["Rgba16Snorm", "float"],
  rgba8_snorm: ["Rgba8Snorm", "float"],
  rg16_snorm: ["Rg16Snorm", "float"],
  rg8_snorm: ["Rg8Snorm", "float"],
  r16_snorm: ["R16Snorm", "float"],
  r8_snorm: ["R8Snorm", "float"],
  rgba32i: ["Rgba32i", "int"],
  rgba16i: ["Rgba16i", "int"],
  rgba8i: ["Rgba8i", "int"],
  rg32i: ["Rg32i", "int"],
  rg16i: ["Rg16i", "int"],
  rg8i: ["Rg8i", "int"],
  r32i: ["R32i", "int"],
  r16i: ["R16i", "int"],
  r8i: ["R8i", "int"],
  rgba32ui: ["Rgba32ui", "uint"],
  rgba16ui: ["Rgba16ui", "uint"],
  rgb10_a2ui: ["Rgb10a2ui", "uint"],
  rgba8ui: ["Rgba8ui", "uint"],
  rg32ui: ["Rg32ui", "uint"],
  rg16ui: ["Rg16ui", "uint"],
  rg8ui: ["Rg8ui", "uint"],
  r32ui: ["R32ui", "uint"],
  r16ui: ["R16ui", "uint"],
  r8ui: ["R8ui", "uint"],
};

/** Formats that every Vulkan device with storage images has; the others need a capability. */
export const basicFormats: ReadonlySet<string> = new Set([
  "Unknown",
  "Rgba32f",
  "Rgba16f",
  "R32f",
  "Rgba8",
  "Rgba8Snorm",
  "Rgba32i",
  "Rgba16i",
  "Rgba8i",
  "R32i",
  "Rgba32ui",
  "Rgba16ui",
  "Rgba8ui",
  "R32ui",
]);
