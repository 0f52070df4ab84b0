import {
  type Annotations,
  ConstantValues,
  Decoration,
  entryInstruction,
  entryPoints,
  type Instruction,
  type Module,
  Op,
  operand,
  operandCount,
  type ShaderStage,
  StorageClass,
} from "../spirv/index.ts";

/** One location of a stage's inputs or outputs, as GLSL declares it. */
interface Slot {
  readonly location: number;
  readonly component: number;
  readonly type: ScalarName;
  readonly components: number;
  /** `flat`, `noperspective`, `centroid`, `sample`. */
  readonly qualifiers: readonly string[];
}

type ScalarName = keyof typeof scalars;

/**
 * Scalars that cross stages: GLSL's name of one and of vectors, numbers of Vulkan's vertex formats with 1 to 4
 * components (`VkFormat`; three 8-bit components are fetched as four), and the formats' names without `VK_FORMAT_`.
 */
const scalars = {
  float: row("float", "vec", [100, 103, 106, 109], "32", "SFLOAT"),
  int: row("int", "ivec", [99, 102, 105, 108], "32", "SINT"),
  uint: row("uint", "uvec", [98, 101, 104, 107], "32", "UINT"),
  float64: row("double", "dvec", [112, 115, 118, 121], "64", "SFLOAT"),
  int64: row("int64_t", "i64vec", [111, 114, 117, 120], "64", "SINT"),
  uint64: row("uint64_t", "u64vec", [110, 113, 116, 119], "64", "UINT"),
  float16: row("float16_t", "f16vec", [76, 83, 97, 97], "16", "SFLOAT"),
  int16: row("int16_t", "i16vec", [75, 82, 96, 96], "16", "SINT"),
  uint16: row("uint16_t", "u16vec", [74, 81, 95, 95], "16", "UINT"),
  int8: row("int8_t", "i8vec", [14, 21, 42, 42], "8", "SINT"),
  uint8: row("uint8_t", "u8vec", [13, 20, 41, 41], "8", "UINT"),
} as const;

function row(one: string, vector: string, formats: readonly number[], bits: string, kind: string) {
  const wide = bits === "32" || bits === "64" ? [1, 2, 3, 4] : [1, 2, 4, 4];
  const names = wide.map(
    (n) =>
      `${["R", "G", "B", "A"]
        .slice(0, n)
        .map((c) => `${c}${bits}`)
        .join("")}_${kind}`,
  );
  return { one, vector, formats, names };
}

/** What the peer needs to make a pipeline of one graphics stage, and what this compiler's request says of the same. */
export interface GraphicsState {
  /** GLSL of the stage that gives or takes every location. */
  readonly counterpart: { readonly stage: "vert" | "frag"; readonly source: string };
  /** location → number and name of the format. */
  readonly attributes: readonly StateFormat[];
  readonly colors: readonly StateFormat[];
}

export interface StateFormat {
  readonly location: number;
  readonly vkFormat: number;
  readonly format: string;
}

/** Bytes between the attributes of one vertex, as the measuring tool places them. */
export const attributeStrideBytes = 32;

const qualifierOf = [
  [Decoration.Flat, "flat"],
  [Decoration.NoPerspective, "noperspective"],
  [Decoration.Centroid, "centroid"],
  [Decoration.Sample, "sample"],
] as const;

/** Interface of an entry point, from the module alone. */
class Interface {
  readonly #module: Module;
  readonly #annotations: Annotations;
  readonly #constants: ConstantValues;
  readonly #named: ReadonlySet<number>;

  constructor(module: Module, entry: Instruction) {
    this.#module = module;
    this.#annotations = module.annotations;
    this.#constants = new ConstantValues(module.index, this.#annotations, []);
    this.#named = new Set(module.words.subarray(entry.first + 2, entry.end));
  }

  /** Undefined where a type has no declaration here. */
  slots(storage: number): Slot[] | undefined {
    const found: Slot[] = [];
    for (const variable of this.#module.instructions) {
      if (variable.opcode === Op.OpFunction) break;
      if (variable.opcode !== Op.OpVariable || operand(this.#module, variable, 0) !== storage) continue;
      const { result } = variable;
      if (!this.#named.has(result) || this.#annotations.has(result, Decoration.BuiltIn)) continue;
      const pointer = this.#module.definitions[variable.type];
      const pointee = pointer === undefined ? 0 : operand(this.#module, pointer, 1);
      const location = this.#annotations.value(result, Decoration.Location);
      if (location === undefined && this.#module.definitions[pointee]?.opcode !== Op.OpTypeStruct) continue;
      const component = this.#annotations.value(result, Decoration.Component) ?? 0;
      const qualifiers = qualifierOf.flatMap(([d, name]) => (this.#annotations.has(result, d) ? [name] : []));
      if (this.#walk(pointee, location ?? 0, component, qualifiers, found) === undefined) return undefined;
    }
    return found;
  }

  /** The next free location. */
  #walk(id: number, location: number, component: number, outer: readonly string[], to: Slot[]): number | undefined {
    const type = this.#module.definitions[id];
    if (type === undefined) return undefined;
    const part = operand(this.#module, type, 0);
    switch (type.opcode) {
      case Op.OpTypeStruct: {
        let next: number | undefined = location;
        for (let m = 0; m < operandCount(type) && next !== undefined; m++) {
          if (this.#annotations.memberHas(id, m, Decoration.BuiltIn)) return next;
          const own = qualifierOf.flatMap(([d, name]) => (this.#annotations.memberHas(id, m, d) ? [name] : []));
          const at: number = this.#annotations.memberValue(id, m, Decoration.Location) ?? next;
          const first = this.#annotations.memberValue(id, m, Decoration.Component) ?? 0;
          next = this.#walk(operand(this.#module, type, m), at, first, [...outer, ...own], to);
        }
        return next;
      }
      case Op.OpTypeArray:
      case Op.OpTypeMatrix: {
        const length = operand(this.#module, type, 1);
        const count = type.opcode === Op.OpTypeMatrix ? length : (this.#constants.value(length) ?? 0);
        let next: number | undefined = location;
        for (let k = 0; k < count && next !== undefined; k++) next = this.#walk(part, next, component, outer, to);
        return next;
      }
      case Op.OpTypeVector: {
        const scalar = this.#scalar(part);
        if (scalar === undefined) return undefined;
        const components = operand(this.#module, type, 1);
        to.push({ location, component, type: scalar, components, qualifiers: outer });
        return location + (scalar.endsWith("64") && components > 2 ? 2 : 1);
      }
      default: {
        const scalar = this.#scalar(id);
        if (scalar === undefined) return undefined;
        to.push({ location, component, type: scalar, components: 1, qualifiers: outer });
        return location + 1;
      }
    }
  }

  #scalar(id: number): ScalarName | undefined {
    const type = this.#module.definitions[id];
    if (type?.opcode !== Op.OpTypeInt && type?.opcode !== Op.OpTypeFloat) return undefined;
    const bits = operand(this.#module, type, 0);
    const base = type.opcode === Op.OpTypeFloat ? "float" : operand(this.#module, type, 1) === 0 ? "uint" : "int";
    const name = bits === 32 ? base : `${base}${bits}`;
    return Object.hasOwn(scalars, name) ? (name as ScalarName) : undefined;
  }
}

const header = `#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
`;

function declaration(slot: Slot, direction: "in" | "out", name: string, qualifiers: readonly string[]): string {
  const { one, vector } = scalars[slot.type];
  const type = slot.components === 1 ? one : `${vector}${slot.components}`;
  const place = slot.component === 0 ? "" : `, component = ${slot.component}`;
  return `layout(location = ${slot.location}${place}) ${[...qualifiers, direction].join(" ")} ${type} ${name};\n`;
}

/** Buffers of transform feedback, bytes of a vertex in each. */
const [feedbackBuffers, feedbackBytes] = [4, 256];

/**
 * A vertex shader that writes something else to every component that a fragment shader reads. Transform feedback holds
 * the 32-bit ones fast: a driver that links would move what the fragment shader computes of them into this stage.
 */
function vertexShader(inputs: readonly Slot[]): string {
  let used = 0;
  const declared = inputs.map((slot, k) => {
    const kept = slot.qualifiers.filter((q) => q === "flat" || q === "noperspective");
    const plain = declaration(slot, "out", `o${k}`, [...new Set(kept)]);
    const buffer = Math.floor(used / feedbackBytes);
    if (!/^(float|int|uint)$/.test(slot.type) || buffer >= feedbackBuffers) return plain;
    // A whole vector each, so that none crosses the end of a buffer.
    const held = `xfb_buffer = ${buffer}, xfb_stride = ${feedbackBytes}, xfb_offset = ${used % feedbackBytes}`;
    used += 16;
    return plain.replace("layout(", `layout(${held}, `);
  });
  const written = inputs.map(({ type, components }, k) => {
    const value = `(position * ${k + 2}.25 + ${k * 3 + 1}.5)`;
    const bits = type === "int" ? `floatBitsToInt${value}` : type === "uint" ? `floatBitsToUint${value}` : value;
    const converted = /^(float|int|uint)$/.test(type) ? bits : `${scalars[type].vector}4${value}`;
    return `  o${k} = ${converted}.${"xyzw".slice(0, components)};\n`;
  });
  const body = `void main() {\n  gl_Position = position;\n${written.join("")}}\n`;
  return `${header}layout(location = 0) in vec4 position;\n${declared.join("")}${body}`;
}

/**
 * A fragment shader that uses every component that a vertex shader writes, together with the pixel's place: what is
 * computed of inputs and constants alone a driver that links may move into the vertex stage.
 */
function fragmentShader(outputs: readonly Slot[]): string {
  const declared = outputs.map((slot, k) => {
    const kept = slot.qualifiers.filter((q) => q === "flat" || q === "noperspective");
    const flat = slot.type === "float" || slot.type === "float16" ? [] : ["flat"];
    return declaration(slot, "in", `i${k}`, [...new Set([...kept, ...flat])]);
  });
  const used = outputs.flatMap(({ type, components }, k) =>
    Array.from({ length: components }, (_, c) => {
      const part = components === 1 ? "" : `.${"xyzw"[c]}`;
      const place = `${scalars[type].one}(gl_FragCoord.x)`;
      return `  color.${"xyzw"[c]} += float(i${k}${part} ${type.startsWith("float") ? "*" : "^"} ${place});\n`;
    }),
  );
  const body = `void main() {\n  color = vec4(0.0);\n${used.join("")}}\n`;
  return `${header}layout(location = 0) out vec4 color;\n${declared.join("")}${body}`;
}

const normalized = { vkFormat: 37, format: "R8G8B8A8_UNORM" } as const;

/** Floats go to 8-bit targets, integers to 32-bit ones. */
function colorOf({ location, type }: Slot): StateFormat {
  if (type.startsWith("float")) return { location, ...normalized };
  return type.startsWith("int")
    ? { location, vkFormat: 108, format: "R32G32B32A32_SINT" }
    : { location, vkFormat: 107, format: "R32G32B32A32_UINT" };
}

function attributeOf({ location, type, component, components }: Slot): StateFormat {
  const { formats, names } = scalars[type];
  const last = Math.min(component + components, 4) - 1;
  return { location, vkFormat: formats[last] as number, format: names[last] as string };
}

/** One row a location, ascending; of several the widest attribute. */
function byLocation(rows: readonly StateFormat[]): StateFormat[] {
  const found = new Map<number, StateFormat>();
  for (const row of rows) {
    const other = found.get(row.location);
    if (other === undefined || row.format.length > other.format.length) found.set(row.location, row);
  }
  return [...found.values()].sort((a, b) => a.location - b.location);
}

/**
 * Pipeline state for the `main` of a vertex or fragment module: every attribute 32-bit-wide components of the shader's type at
 * `location * attributeStrideBytes`, every float output to R8G8B8A8_UNORM, a counterpart that keeps the interface whole.
 * Undefined where the module has no such entry point or interface types that GLSL cannot declare.
 */
export function graphicsState(module: Module, stage: Exclude<ShaderStage, "compute">): GraphicsState | undefined {
  const entry = entryPoints(module.index).find((e) => e.name === "main" && e.stage === stage);
  if (entry === undefined) return undefined;
  const found = new Interface(module, entryInstruction(module, entry));
  const inputs = found.slots(StorageClass.Input);
  const outputs = found.slots(StorageClass.Output);
  if (inputs === undefined || outputs === undefined) return undefined;
  if (stage === "vertex") {
    return {
      counterpart: { stage: "frag", source: fragmentShader(outputs) },
      attributes: byLocation(inputs.map(attributeOf)),
      colors: [{ location: 0, ...normalized }],
    };
  }
  return {
    counterpart: { stage: "vert", source: vertexShader(inputs) },
    attributes: [{ location: 0, vkFormat: 109, format: "R32G32B32A32_SFLOAT" }],
    colors: byLocation(outputs.map(colorOf)),
  };
}
