/** Writes the machine's contract (`src/uapi`) as AssemblyScript: const enums, and getters of packet and register fields. */
import * as uapi from "../../src/uapi/index.ts";

/** `computeShaderEn` → `COMPUTE_SHADER_EN`. */
const upper = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
const pascal = (name: string): string =>
  name
    .toLowerCase()
    .split("_")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

/** const enum members are i32 in AssemblyScript: values from 2^31 on are written as their negative. */
function constEnum(name: string, about: string, values: Readonly<Record<string, number>>): string {
  const lines = Object.entries(values).map(
    ([key, value]) => `  ${key} = ${value > 0x7fff_ffff ? value - 2 ** 32 : value},`,
  );
  return `/** ${about} */\nexport const enum ${name} {\n${lines.join("\n")}\n}\n`;
}

function getter(name: string, [field, lsb, width]: uapi.FieldRow): string {
  const mask = `0x${(2 ** width - 1).toString(16)}`;
  const body = width === 32 ? "word" : lsb === 0 ? `word & ${mask}` : `(word >> ${lsb}) & ${mask}`;
  return `export function ${name}${pascal(upper(field))}(word: u32): u32 {\n  return ${body};\n}\n`;
}

/** SDMA: opcode with sub-opcode as the header's low half, dword indices of the body, field getters. */
function sdma(): string {
  const rows = Object.entries(uapi.sdmaRows) as [string, uapi.SdmaRow][];
  const codes = Object.fromEntries(rows.map(([name, row]) => [name, row.subOpcode * 256 + row.opcode]));
  const parts = [constEnum("Sdma", "SDMA packets by the header's low 16 bits.", codes)];
  for (const [name, row] of rows) {
    const words: Record<string, number> = {};
    let at = 1;
    for (const [word, kind] of row.words) {
      if (kind === "u64") {
        words[`${upper(word)}_LO`] = at++;
        words[`${upper(word)}_HI`] = at++;
      } else words[upper(word)] = at++;
    }
    words.DWORDS = at;
    parts.push(constEnum(`Sdma${pascal(name)}Word`, `${name}: dword indices from the header; ${row.about}.`, words));
    for (const field of row.header) parts.push(getter(`sdma${pascal(name)}`, field));
    for (const [, kind] of row.words) {
      if (typeof kind === "string") continue;
      for (const field of kind) parts.push(getter(`sdma${pascal(name)}`, field));
    }
  }
  return parts.join("\n");
}

function packets(): string {
  const rows = Object.entries(uapi.packetRows) as [string, uapi.PacketRow][];
  const parts = [
    constEnum("Pm4", "PM4 type-3 opcodes.", Object.fromEntries(rows.map(([name, row]) => [name, row.opcode]))),
  ];
  for (const [name, row] of rows) {
    const words: Record<string, number> = {};
    let at = 0;
    for (const [word, kind] of row.words) {
      if (kind === "u64") {
        words[`${upper(word)}_LO`] = at++;
        words[`${upper(word)}_HI`] = at++;
      } else words[upper(word)] = at++;
    }
    words.FIXED_DWORDS = at;
    words.MIN_DWORDS = at + (row.tail?.[1] ?? 0);
    const most = row.tail?.[2] === undefined ? uapi.Pm4Header.COUNT_MASK : at + row.tail[2];
    words.MAX_DWORDS = row.tail ? most : at;
    parts.push(constEnum(`${pascal(name)}Body`, `${name}: body dword indices; ${row.about}.`, words));
    for (const [, kind] of row.words) {
      if (typeof kind === "string") continue;
      for (const field of kind) parts.push(getter(`pm4${pascal(name)}`, field));
    }
  }
  return parts.join("\n");
}

function registers(): string {
  const rows = Object.entries(uapi.shRegisters) as [string, uapi.RegisterRow][];
  const offsets: Record<string, number> = Object.fromEntries(rows.map(([name, row]) => [name, row.offset]));
  offsets.COMPUTE_USER_DATA_0 = uapi.COMPUTE_USER_DATA_0;
  offsets.COMPUTE_USER_DATA_COUNT = uapi.COMPUTE_USER_DATA_COUNT;
  const parts = [constEnum("ShReg", "SH registers, byte offsets.", offsets)];
  for (const [name, row] of rows) {
    for (const field of row.fields ?? []) parts.push(getter(`reg${pascal(name)}`, field));
  }
  return parts.join("\n");
}

/** Kind [2:0], components [5:3], widths of six bits from bit 8 on; 0 where there is no format of the number. */
function formats(): string {
  const words = new Array<number>(Math.max(...uapi.bufferFormats.map((row) => row.number)) + 1).fill(0);
  for (const { number, widths, kind } of uapi.bufferFormats) {
    const sum = widths.reduce((all, bits, i) => all + bits * 2 ** (8 + 6 * i), 0);
    words[number] = sum + widths.length * 8 + uapi.NumericKind[kind];
  }
  const about = "Buffer formats by number: kind [2:0], components [5:3], widths of six bits from bit 8 on; 0: none.";
  return `/** ${about} */\nexport const BUFFER_FORMATS = memory.data<u32>([\n  ${words.join(", ")},\n]);\nexport const BUFFER_FORMAT_LIMIT: u32 = ${words.length};\n`;
}

const hex = (value: number): string => `0x${value.toString(16)}`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The reference page of the kernel's and the GPU's interface: every table is its rows. */
function page(): string {
  const ioctls = (Object.entries(uapi.ioctlRows) as [string, uapi.IoctlRow][]).map(([name, row]) => {
    const fields = row.fields.map(
      ([field, offset, type, way]) => `\`${field}\` ${type} at ${offset}${way === "out" ? " (out)" : ""}`,
    );
    const list = row.tail ? [`then u32 \`${row.tail[0]}\`[${row.tail[1]}]`] : [];
    const errors = Object.entries(row.errors).map(([errno, when]) => `${errno}: ${when}`);
    return [hex(row.number), name, [...fields, ...list].join(", "), row.about, errors.join("; ") || "none"];
  });
  const bits = (fields: readonly uapi.FieldRow[]): string =>
    `(${fields.map(([f, lsb, w]) => `${f} ${w === 1 ? lsb : `${lsb + w - 1}:${lsb}`}`).join(", ")})`;
  const packetWords = (row: uapi.PacketRow | uapi.SdmaRow): string =>
    [
      ...("header" in row && row.header.length > 0 ? [`header ${bits(row.header)}`] : []),
      ...row.words.map(([word, kind]) => `\`${word}\` ${typeof kind === "string" ? kind : bits(kind)}`),
      ...(row.tail ? [`\`${row.tail[0]}\`…`] : []),
    ].join(", ");
  const map = Object.entries(uapi.PhysicalMap)
    .filter(([name]) => !name.endsWith("_BYTES"))
    .map(([name, start]) => [
      name,
      hex(start),
      hex((uapi.PhysicalMap as Record<string, number>)[`${name}_BYTES`] ?? 0),
    ]);
  return [
    "# The interface between driver, kernel and GPU",
    "Generated by `scripts/generate/uapi.ts` from the rows of `src/uapi`. Do not edit.",
    "Packets and register offsets are AMD's; page tables, control block, interrupts, fault records and ioctls are our own model.",
    "## Ioctls",
    "Little-endian structs; 0 or a negative errno. " +
      Object.entries(uapi.commonErrors)
        .map(([errno, when]) => `${errno}: ${when}`)
        .join("; ") +
      " (any ioctl).",
    table(["number", "name", "fields (byte offsets)", "does", "errors"], ioctls),
    "## PM4 packets",
    table(
      ["opcode", "name", "body", "does"],
      (Object.entries(uapi.packetRows) as [string, uapi.PacketRow][]).map(([name, row]) => [
        hex(row.opcode),
        name,
        packetWords(row),
        row.about,
      ]),
    ),
    "## SDMA packets",
    "Header: opcode 7:0, sub-opcode 15:8, and the fields named.",
    table(
      ["opcode", "name", "body", "does"],
      (Object.entries(uapi.sdmaRows) as [string, uapi.SdmaRow][]).map(([name, row]) => [
        `${row.opcode}.${row.subOpcode}`,
        name,
        packetWords(row),
        row.about,
      ]),
    ),
    "## Faults",
    table(
      ["kind", "name", "report"],
      uapi.faultKinds.map((row) => [row.kind, row.name, row.text]),
    ),
    "## CPU views",
    [
      "A view that mmap() answers is a window of the host's memory. The driver drops its own at munmap() and when the memory is freed,",
      "but the host cannot trap an access by somebody who kept one: a view used after that shows, and writes, whatever the pages hold by",
      "then, another process's data included. Programs of one host are trusted with each other's views as threads of one process are; what",
      "the GPU runs is not: shaders, packets and copies reach what their process's page tables map, and nothing else.",
    ].join("\n"),
    "## Physical memory",
    "VRAM takes three quarters of what lies above its start, GTT the rest.",
    table(["region", "start", "bytes"], map),
    "",
  ].join("\n\n");
}

/** The AssemblyScript constants and the reference page. */
export function generate(): { path: string; text: string }[] {
  const parts = [
    "// Generated by scripts/generate/uapi.ts from src/uapi. Do not edit.\n",
    constEnum("PhysicalMap", "Physical memory, bytes.", uapi.PhysicalMap),
    constEnum("MachineLimits", "Limits of the model.", uapi.MachineLimits),
    constEnum("PageTable", "Page-table shape.", uapi.PageTable),
    constEnum("Pte", "Bits of an entry's low half.", uapi.Pte),
    `/** Address bits [47:12] of an entry. */\nexport const PTE_ADDRESS_MASK: u64 = 0x${uapi.PTE_ADDRESS_MASK.toString(16)};\n/** A hole. */\nexport const PTE_PRT: u64 = 0x${uapi.PTE_PRT.toString(16)};\n/** A level 1 entry that is a page. */\nexport const PDE_PTE: u64 = 0x${uapi.PDE_PTE.toString(16)};\n`,
    constEnum("Control", "Control block, byte offsets.", uapi.Control),
    `export const CONTROL_MAGIC: u32 = 0x${uapi.CONTROL_MAGIC.toString(16)};\nexport const CONTROL_VERSION: u32 = ${uapi.CONTROL_VERSION};\n`,
    constEnum("GpuState", "Control.GPU_STATE.", uapi.GpuState),
    constEnum("ControlFlag", "Control.FLAGS bits.", uapi.ControlFlag),
    constEnum("CounterSum", "Counter sums of a queue, byte offsets.", uapi.Counter),
    constEnum("Vmid", "VMID table entry, byte offsets.", uapi.Vmid),
    constEnum("Queue", "Queue table entry, byte offsets.", uapi.Queue),
    constEnum("QueueKind", "Queue.KIND.", uapi.QueueKind),
    constEnum("QueueState", "Queue.STATE.", uapi.QueueState),
    constEnum("Interrupt", "Interrupt ring entry, byte offsets.", uapi.Interrupt),
    constEnum("InterruptSource", "Interrupt.SOURCE.", uapi.InterruptSource),
    constEnum("Fault", "Fault record, byte offsets.", uapi.Fault),
    constEnum("WaveRecord", "Wave table entry of a fault record, byte offsets.", uapi.WaveRecord),
    constEnum("WaveStatus", "WaveRecord.STATUS.", uapi.WaveStatus),
    constEnum("FaultAccess", "Fault.ACCESS.", uapi.FaultAccess),
    constEnum("RegisterClass", "Fault.DETAIL_1 of PENDING_REGISTER.", uapi.RegisterClass),
    constEnum("FaultKind", "Fault.KIND.", uapi.FaultKind),
    constEnum("BadDispatch", "Fault.DETAIL_0 of BAD_DISPATCH.", uapi.BadDispatch),
    constEnum("RegisterSpace", "First byte offset of each register space.", uapi.RegisterSpace),
    constEnum("Pm4Header", "Packet header.", uapi.Pm4Header),
    constEnum("PacketValue", "Values of packet fields.", uapi.PacketValue),
    packets(),
    constEnum("SdmaValue", "Values of SDMA packet fields.", uapi.SdmaValue),
    sdma(),
    registers(),
    constEnum("NumericKind", "How a format reads the bits of its components.", uapi.NumericKind),
    formats(),
  ];
  return [
    { path: "assembly/gen/uapi.ts", text: parts.join("\n") },
    { path: "docs/kernel-interface.md", text: page() },
  ];
}
