/**
 * Rows of the texture, image and subpass functions, in the form of `functions.ts`. `gvec4`, `gsampler2D`, `gimage2D` and
 * their like stand for three rows: float, int and uint texels. The word behind `sample` and `gather` says what each
 * parameter is: `s` sampled image, `c` coordinates, `C` coordinates with the reference value last, `p` `P` the same with
 * a divisor (last) for projection, `d` reference value, `b` bias, `l` level, `x` `y` derivatives, `o` offset,
 * `q` four offsets, `m` component. Source: GLSL 4.60 sections 8.9, 8.12 and 8.14.
 */

interface Shape {
  readonly name: string;
  readonly coordinate: string;
  readonly texel: string;
  readonly gradient: string;
  /** Of `textureOffset`; undefined where there is none. */
  readonly offset?: string;
  readonly projections: readonly string[];
  /** Coordinates of the shadow form; undefined where there is none. */
  readonly shadow?: string;
  readonly size: string;
  /** Has levels. */
  readonly levels: boolean;
  readonly gathers: boolean;
}

const shapes: readonly Shape[] = [
  {
    name: "1D",
    coordinate: "float",
    texel: "int",
    gradient: "float",
    offset: "int",
    projections: ["vec2", "vec4"],
    shadow: "vec3",
    size: "int",
    levels: true,
    gathers: false,
  },
  {
    name: "2D",
    coordinate: "vec2",
    texel: "ivec2",
    gradient: "vec2",
    offset: "ivec2",
    projections: ["vec3", "vec4"],
    shadow: "vec3",
    size: "ivec2",
    levels: true,
    gathers: true,
  },
  {
    name: "3D",
    coordinate: "vec3",
    texel: "ivec3",
    gradient: "vec3",
    offset: "ivec3",
    projections: ["vec4"],
    size: "ivec3",
    levels: true,
    gathers: false,
  },
  {
    name: "Cube",
    coordinate: "vec3",
    texel: "ivec3",
    gradient: "vec3",
    projections: [],
    shadow: "vec4",
    size: "ivec2",
    levels: true,
    gathers: true,
  },
  {
    name: "1DArray",
    coordinate: "vec2",
    texel: "ivec2",
    gradient: "float",
    offset: "int",
    projections: [],
    shadow: "vec3",
    size: "ivec2",
    levels: true,
    gathers: false,
  },
  {
    name: "2DArray",
    coordinate: "vec3",
    texel: "ivec3",
    gradient: "vec2",
    offset: "ivec2",
    projections: [],
    shadow: "vec4",
    size: "ivec3",
    levels: true,
    gathers: true,
  },
  {
    name: "CubeArray",
    coordinate: "vec4",
    texel: "ivec3",
    gradient: "vec3",
    projections: [],
    shadow: "vec4, float",
    size: "ivec3",
    levels: true,
    gathers: true,
  },
  {
    name: "2DRect",
    coordinate: "vec2",
    texel: "ivec2",
    gradient: "vec2",
    offset: "ivec2",
    projections: ["vec3", "vec4"],
    shadow: "vec3",
    size: "ivec2",
    levels: false,
    gathers: true,
  },
];

const samplerless = "+GL_EXT_samplerless_texture_functions";

function sampling(rows: string[], shape: Shape): void {
  const { name, gradient: g, offset: o, levels } = shape;
  const forms = (returns: string, sampler: string, suffix: string, at: string, role: string, shadow: boolean): void => {
    const bias = levels && !(shadow && (name === "2DArray" || name === "CubeArray"));
    const lod = levels && !(shadow && !(name === "1D" || name === "2D" || name === "1DArray"));
    rows.push(`${returns} texture${suffix}(${sampler}, ${at}) = sample s${role}`);
    if (bias) rows.push(`${returns} texture${suffix}(${sampler}, ${at}, float) = sample s${role}b @fragment`);
    if (lod) rows.push(`${returns} texture${suffix}Lod(${sampler}, ${at}, float) = sample s${role}l`);
    rows.push(`${returns} texture${suffix}Grad(${sampler}, ${at}, ${g}, ${g}) = sample s${role}xy`);
    if (o === undefined) return;
    rows.push(`${returns} texture${suffix}Offset(${sampler}, ${at}, ${o}) = sample s${role}o`);
    if (bias)
      rows.push(`${returns} texture${suffix}Offset(${sampler}, ${at}, ${o}, float) = sample s${role}ob @fragment`);
    if (lod) rows.push(`${returns} texture${suffix}LodOffset(${sampler}, ${at}, float, ${o}) = sample s${role}lo`);
    rows.push(`${returns} texture${suffix}GradOffset(${sampler}, ${at}, ${g}, ${g}, ${o}) = sample s${role}xyo`);
  };
  forms("gvec4", `gsampler${name}`, "", shape.coordinate, "c", false);
  for (const at of shape.projections) forms("gvec4", `gsampler${name}`, "Proj", at, "p", false);
  if (shape.shadow === undefined) return;
  const separate = shape.shadow.includes(",");
  forms("float", `sampler${name}Shadow`, "", shape.shadow, separate ? "cd" : "C", true);
  if (shape.projections.includes("vec4")) forms("float", `sampler${name}Shadow`, "Proj", "vec4", "P", true);
}

function fetching(rows: string[], { name, texel, size, offset, levels }: Shape): void {
  const cube = name.startsWith("Cube");
  const shadow = name !== "3D";
  for (const [type, more] of [
    [`gsampler${name}`, ""],
    [`gtexture${name}`, ` ${samplerless}`],
  ] as const) {
    const lod = levels ? ", int" : "";
    if (!cube) {
      const role = levels ? "l" : "";
      rows.push(`gvec4 texelFetch(${type}, ${texel}${lod}) = fetch sc${role}${more}`);
      if (offset !== undefined) {
        rows.push(`gvec4 texelFetchOffset(${type}, ${texel}${lod}, ${offset}) = fetch sc${role}o${more}`);
      }
    }
    rows.push(`${size} textureSize(${type}${lod}) = querySize${more}`);
    if (levels) rows.push(`int textureQueryLevels(${type}) = queryLevels${more}`);
  }
  if (shadow) {
    rows.push(`${size} textureSize(sampler${name}Shadow${levels ? ", int" : ""}) = querySize`);
    if (levels) rows.push(`int textureQueryLevels(sampler${name}Shadow) = queryLevels`);
  }
}

function gathering(rows: string[], { name, coordinate: at, offset: o }: Shape): void {
  const sampler = `gsampler${name}`;
  for (const [component, role] of [
    ["", ""],
    [", int", "m"],
  ] as const) {
    rows.push(`gvec4 textureGather(${sampler}, ${at}${component}) = gather sc${role}`);
    if (o === undefined) continue;
    rows.push(`gvec4 textureGatherOffset(${sampler}, ${at}, ${o}${component}) = gather sco${role}`);
    rows.push(`gvec4 textureGatherOffsets(${sampler}, ${at}, ${o}[4]${component}) = gather scq${role}`);
  }
  const shadow = `sampler${name}Shadow`;
  rows.push(`vec4 textureGather(${shadow}, ${at}, float) = gather scd`);
  if (o === undefined) return;
  rows.push(`vec4 textureGatherOffset(${shadow}, ${at}, float, ${o}) = gather scdo`);
  rows.push(`vec4 textureGatherOffsets(${shadow}, ${at}, float, ${o}[4]) = gather scdq`);
}

/** Image kinds: name, coordinates (with the sample where there are several), size. */
const images: readonly (readonly [string, string, string])[] = [
  ["1D", "int", "int"],
  ["2D", "ivec2", "ivec2"],
  ["3D", "ivec3", "ivec3"],
  ["Cube", "ivec3", "ivec2"],
  ["1DArray", "ivec2", "ivec2"],
  ["2DArray", "ivec3", "ivec3"],
  ["CubeArray", "ivec3", "ivec3"],
  ["2DRect", "ivec2", "ivec2"],
  ["Buffer", "int", "int"],
  ["2DMS", "ivec2, int", "ivec2"],
  ["2DMSArray", "ivec3, int", "ivec3"],
];

/** Atomic operations: GLSL name, instruction for int, for uint. */
const atomics: readonly (readonly [string, string, string])[] = [
  ["Add", "OpAtomicIAdd", "OpAtomicIAdd"],
  ["Min", "OpAtomicSMin", "OpAtomicUMin"],
  ["Max", "OpAtomicSMax", "OpAtomicUMax"],
  ["And", "OpAtomicAnd", "OpAtomicAnd"],
  ["Or", "OpAtomicOr", "OpAtomicOr"],
  ["Xor", "OpAtomicXor", "OpAtomicXor"],
  ["Exchange", "OpAtomicExchange", "OpAtomicExchange"],
];

/** What scoped atomics have besides. */
const order = "int, int, int";
const scoped = "+GL_KHR_memory_scope_semantics";

function imageFunctions(rows: string[], [name, at, size]: readonly [string, string, string]): void {
  rows.push(`gvec4 imageLoad(gimage${name}, ${at}) = imageLoad`);
  rows.push(`void imageStore(gimage${name}, ${at}, gvec4) = imageStore`);
  rows.push(`${size} imageSize(gimage${name}) = querySize`);
  if (name.includes("MS")) rows.push(`int imageSamples(gimage${name}) = querySamples`);
  for (const [atomic, signed, unsigned] of atomics) {
    rows.push(`int imageAtomic${atomic}(iimage${name}, ${at}, int) = imageAtomic ${signed}`);
    rows.push(`uint imageAtomic${atomic}(uimage${name}, ${at}, uint) = imageAtomic ${unsigned}`);
    rows.push(`int imageAtomic${atomic}(iimage${name}, ${at}, int, ${order}) = imageAtomic ${signed} ${scoped}`);
    rows.push(`uint imageAtomic${atomic}(uimage${name}, ${at}, uint, ${order}) = imageAtomic ${unsigned} ${scoped}`);
  }
  for (const [type, image] of [
    ["int", "iimage"],
    ["uint", "uimage"],
  ] as const) {
    rows.push(`${type} imageAtomicLoad(${image}${name}, ${at}, ${order}) = imageAtomic OpAtomicLoad ${scoped}`);
    rows.push(`void imageAtomicStore(${image}${name}, ${at}, ${type}, ${order}) = imageAtomic OpAtomicStore ${scoped}`);
    rows.push(
      `${type} imageAtomicCompSwap(${image}${name}, ${at}, ${type}, ${type}, ${order}, int, int) = imageAtomic OpAtomicCompareExchange ${scoped}`,
    );
  }
  rows.push(`float imageAtomicExchange(image${name}, ${at}, float) = imageAtomic OpAtomicExchange`);
  rows.push(`float imageAtomicExchange(image${name}, ${at}, float, ${order}) = imageAtomic OpAtomicExchange ${scoped}`);
  rows.push(`int imageAtomicCompSwap(iimage${name}, ${at}, int, int) = imageAtomic OpAtomicCompareExchange`);
  rows.push(`uint imageAtomicCompSwap(uimage${name}, ${at}, uint, uint) = imageAtomic OpAtomicCompareExchange`);
}

/** Names of older versions and of WebGL, in the relaxed dialect. */
const olderRows = `
vec4 texture1D(sampler1D, float) = sample sc +relaxed
vec4 texture1D(sampler1D, float, float) = sample scb @fragment +relaxed
vec4 texture1DLod(sampler1D, float, float) = sample scl +relaxed
vec4 texture2D(sampler2D, vec2) = sample sc +relaxed
vec4 texture2D(sampler2D, vec2, float) = sample scb @fragment +relaxed
vec4 texture2DProj(sampler2D, vec3) = sample sp +relaxed
vec4 texture2DProj(sampler2D, vec4) = sample sp +relaxed
vec4 texture2DProj(sampler2D, vec3, float) = sample spb @fragment +relaxed
vec4 texture2DProj(sampler2D, vec4, float) = sample spb @fragment +relaxed
vec4 texture2DLod(sampler2D, vec2, float) = sample scl +relaxed
vec4 texture2DLodEXT(sampler2D, vec2, float) = sample scl +relaxed
vec4 texture2DProjLod(sampler2D, vec3, float) = sample spl +relaxed
vec4 texture2DProjLod(sampler2D, vec4, float) = sample spl +relaxed
vec4 texture2DProjLodEXT(sampler2D, vec3, float) = sample spl +relaxed
vec4 texture2DGradEXT(sampler2D, vec2, vec2, vec2) = sample scxy +relaxed
vec4 texture3D(sampler3D, vec3) = sample sc +relaxed
vec4 texture3D(sampler3D, vec3, float) = sample scb @fragment +relaxed
vec4 texture3DLod(sampler3D, vec3, float) = sample scl +relaxed
vec4 textureCube(samplerCube, vec3) = sample sc +relaxed
vec4 textureCube(samplerCube, vec3, float) = sample scb @fragment +relaxed
vec4 textureCubeLod(samplerCube, vec3, float) = sample scl +relaxed
vec4 textureCubeLodEXT(samplerCube, vec3, float) = sample scl +relaxed
vec4 textureCubeGradEXT(samplerCube, vec3, vec3, vec3) = sample scxy +relaxed`;

/** The rows, one a line. */
export function textureRows(): string {
  const rows: string[] = [olderRows];
  for (const shape of shapes) {
    sampling(rows, shape);
    fetching(rows, shape);
    if (shape.gathers) gathering(rows, shape);
    if (!shape.levels) continue;
    const at = shape.name.startsWith("Cube") ? "vec3" : shape.name.startsWith("2D") ? "vec2" : shape.coordinate;
    const plain = shape.name === "1DArray" ? "float" : at;
    rows.push(`vec2 textureQueryLod(gsampler${shape.name}, ${plain}) = queryLod @fragment`);
    if (shape.shadow !== undefined) {
      rows.push(`vec2 textureQueryLod(sampler${shape.name}Shadow, ${plain}) = queryLod @fragment`);
    }
  }
  for (const [family, more] of [
    ["sampler", ""],
    ["texture", ` ${samplerless}`],
  ] as const) {
    // the reference compiler asks for no extension here
    rows.push(`gvec4 texelFetch(g${family}Buffer, int) = fetch sc`);
    rows.push(`int textureSize(g${family}Buffer) = querySize${more}`);
    for (const [name, at] of [
      ["2DMS", "ivec2"],
      ["2DMSArray", "ivec3"],
    ] as const) {
      rows.push(`gvec4 texelFetch(g${family}${name}, ${at}, int) = fetch scn${more}`);
      rows.push(`${at} textureSize(g${family}${name}) = querySize${more}`);
      rows.push(`int textureSamples(g${family}${name}) = querySamples${more}`);
    }
  }
  for (const image of images) imageFunctions(rows, image);
  rows.push("gvec4 subpassLoad(gsubpassInput) = subpassLoad @fragment");
  rows.push("gvec4 subpassLoad(gsubpassInputMS, int) = subpassLoad @fragment");
  return rows.join("\n");
}
