/** What a Vulkan format is to a shader: vertex fetch and colour export. */
export interface FormatFacts {
  /** Number of the buffer format in typed loads; 0: there are none of it. */
  readonly bufferFormat: number;
  readonly components: number;
  /** Red and blue change places. */
  readonly swapped: boolean;
  readonly kind: "float" | "int" | "uint";
  /** Components of 64 bits: vertices can have it, fetched in words of 32. */
  readonly wide?: true;
  /** SPI_SHADER_COL_FORMAT for colour targets of it, without blending being asked about. */
  readonly colorExport: number;
}

/** SPI_SHADER_COL_FORMAT. Source: RDNA2 register reference. */
const Export = { r32: 1, gr32: 2, fp16: 4, unorm16: 5, snorm16: 6, uint16: 7, sint16: 8, abgr32: 9 } as const;

/** The order of numeric kinds within a layout's run of buffer formats. */
const kinds = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SFLOAT"] as const;
type NumericKind = (typeof kinds)[number];

/** Layouts: Vulkan's name, first buffer format of the run, kinds in the run, components, bits of the widest one. */
const layouts: readonly (readonly [string, number, readonly NumericKind[], number, number])[] = [
  ["R8", 1, kinds.slice(0, 6), 1, 8],
  ["R16", 7, kinds, 1, 16],
  ["R8G8", 14, kinds.slice(0, 6), 2, 8],
  ["R32", 20, ["UINT", "SINT", "SFLOAT"], 1, 32],
  ["R16G16", 23, kinds, 2, 16],
  ["A2B10G10R10", 50, kinds.slice(0, 6), 4, 10],
  ["R8G8B8A8", 56, kinds.slice(0, 6), 4, 8],
  ["A8B8G8R8", 56, kinds.slice(0, 6), 4, 8],
  ["R32G32", 62, ["UINT", "SINT", "SFLOAT"], 2, 32],
  ["R16G16B16A16", 65, kinds, 4, 16],
  ["R32G32B32", 72, ["UINT", "SINT", "SFLOAT"], 3, 32],
  ["R32G32B32A32", 75, ["UINT", "SINT", "SFLOAT"], 4, 32],
];

function colorExport(kind: NumericKind, components: number, bits: number): number {
  const integer = kind === "UINT" || kind === "SINT";
  if (bits === 32) return components === 1 ? Export.r32 : components === 2 ? Export.gr32 : Export.abgr32;
  if (integer) return kind === "UINT" ? Export.uint16 : Export.sint16;
  if (bits === 16 && kind === "UNORM") return Export.unorm16;
  if (bits === 16 && kind === "SNORM") return Export.snorm16;
  return Export.fp16;
}

function kindOf(kind: NumericKind): FormatFacts["kind"] {
  return kind === "UINT" ? "uint" : kind === "SINT" ? "int" : "float";
}

function build(): ReadonlyMap<string, FormatFacts> {
  const table = new Map<string, FormatFacts>();
  for (const [layout, first, run, components, bits] of layouts) {
    run.forEach((kind, k) => {
      const suffix = layout.startsWith("A") ? `${kind}_PACK32` : kind;
      const facts = {
        bufferFormat: first + k,
        components,
        swapped: false,
        kind: kindOf(kind),
        colorExport: colorExport(kind, components, bits),
      };
      table.set(`${layout}_${suffix}`, facts);
      if (layout === "R8G8B8A8") table.set(`B8G8R8A8_${kind}`, { ...facts, swapped: true });
      if (layout === "A2B10G10R10") table.set(`A2R10G10B10_${suffix}`, { ...facts, swapped: true });
    });
  }
  const colorOnly = { bufferFormat: 0, swapped: false, kind: "float", colorExport: Export.fp16 } as const;
  for (const name of ["R8", "R8G8", "R8G8B8A8", "B8G8R8A8"]) {
    table.set(`${name}_SRGB`, { ...colorOnly, components: name.length / 2 });
  }
  table.set("A8B8G8R8_SRGB_PACK32", { ...colorOnly, components: 4 });
  for (const [name, components] of [
    ["R5G6B5_UNORM_PACK16", 3],
    ["B5G6R5_UNORM_PACK16", 3],
    ["R5G5B5A1_UNORM_PACK16", 4],
    ["A1R5G5B5_UNORM_PACK16", 4],
    ["R4G4B4A4_UNORM_PACK16", 4],
    ["B4G4R4A4_UNORM_PACK16", 4],
    ["B10G11R11_UFLOAT_PACK32", 3],
  ] as const) {
    const bufferFormat = name === "B10G11R11_UFLOAT_PACK32" ? 36 : 0;
    table.set(name, { ...colorOnly, bufferFormat, components });
  }
  for (const [k, layout] of ["R64", "R64G64", "R64G64B64", "R64G64B64A64"].entries()) {
    for (const kind of ["UINT", "SINT", "SFLOAT"] as const) {
      const shape = { bufferFormat: 0, components: k + 1, swapped: false, kind: kindOf(kind) };
      table.set(`${layout}_${kind}`, { ...shape, wide: true, colorExport: 0 });
    }
  }
  return table;
}

const table = build();

/** Facts of a format by Vulkan's name without `VK_FORMAT_`; undefined where shaders have no such format. */
export function formatFacts(name: string): FormatFacts | undefined {
  return table.get(name);
}

/** All names that `formatFacts` knows. */
export const formatNames: readonly string[] = [...table.keys()];
