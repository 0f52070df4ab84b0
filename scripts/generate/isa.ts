/**
 * Writes the back end's and the simulator's views of the ISA rows: `isa-ops.ts` (numbers and facts, for both),
 * `isa-encode.ts` (field packing, for the compiler only) and `isa-decode.ts` (opcode lookup and field extraction).
 */
import {
  allOps,
  counterClasses,
  type Field,
  Flag,
  type FormatName,
  flatSegments,
  formatNames,
  formats,
  issueCycles,
  literalFields,
  type Op,
  type Operand,
  operandKinds,
  SourceCode,
  secondDwords,
  valueTypes,
} from "../../src/isa/index.ts";

const ops = allOps();
const header = "// Generated from the rows of src/isa by scripts/generate/isa.ts. Do not edit.\n";

const pascal = (name: string) => name[0]!.toUpperCase() + name.slice(1);
const formatName = (name: FormatName) => pascal(name.toLowerCase());
const mask = (width: number) => `0x${(2 ** width - 1).toString(16)}`;

function constEnum(name: string, entries: readonly (readonly [string, number])[]): string {
  const lines = entries.map(([key, value]) => `  ${key} = ${value},`);
  return `export const enum ${name} {\n${lines.join("\n")}\n}\n`;
}

function table(name: string, type: "u8" | "u16" | "u32", values: readonly number[]): string {
  const lines: string[] = [];
  for (let i = 0; i < values.length; i += 24) lines.push(`  ${values.slice(i, i + 24).join(", ")},`);
  return `const ${name} = memory.data<${type}>([\n${lines.join("\n")}\n]);\n`;
}

function lookup(doc: string, name: string, tableName: string, type: "u8" | "u16" | "u32", shift: number): string {
  const index = shift === 0 ? "<usize>op" : `(<usize>op << ${shift})`;
  return `/** ${doc} */\nexport function ${name}(op: u32): u32 {\n  return load<${type}>(${tableName} + ${index});\n}\n`;
}

/** kind [3:0], dwords [8:4], type [11:9], neg 12, abs 13, literal 14. */
function operandBits(o: Operand | undefined): number {
  if (o === undefined) return 0;
  return (
    (operandKinds.indexOf(o.kind) + 1) |
    (o.dwords << 4) |
    (valueTypes.indexOf(o.type) << 9) |
    (Number(o.neg) << 12) |
    (Number(o.abs) << 13) |
    (Number(o.literal) << 14)
  );
}

function opsFile(): string {
  const idOf = new Map(ops.map((op) => [op.mnemonic, op.id]));
  const all: readonly (Op | undefined)[] = [undefined, ...ops];
  const parts = [
    header,
    "/** Every encoding: the vendor's name, with `_e32` or `_e64` where both exist. */",
    constEnum("Op", [["none", 0], ...ops.map((op) => [op.mnemonic, op.id] as const)]),
    `/** Number of \`Op\` values, \`none\` included. */\nexport const OP_COUNT: u32 = ${all.length};\n`,
    constEnum("Format", [["none", 0], ...formatNames.map((name, i) => [name, i + 1] as const)]),
    "/** Bits of `opFlags`; src/isa/flags.ts says what each means. */",
    constEnum("OpFlag", Object.entries(Flag)),
    "/** Counters that an instruction raises; `vmOrVs`: vmcnt with glc, vscnt without. */",
    constEnum(
      "Counter",
      counterClasses.map((name, i) => [name.replace(/[-+](\w)/g, (_, c: string) => c.toUpperCase()), i] as const),
    ),
    constEnum("OperandKind", [["none", 0], ...operandKinds.map((name, i) => [name, i + 1] as const)]),
    constEnum(
      "ValueType",
      valueTypes.map((name, i) => [name, i] as const),
    ),
    "/** Codes of the 8- and 9-bit source fields; SGPR n is n, VGPR n is vgpr0 + n. */",
    constEnum(
      "SourceCode",
      Object.entries(SourceCode).map(([k, v]) => [k === "null" ? "nullReg" : k, v] as const),
    ),
    table(
      "FORMAT",
      "u8",
      all.map((op) => (op ? formatNames.indexOf(op.format) + 1 : 0)),
    ),
    table(
      "CODE",
      "u16",
      all.map((op) => op?.opcode ?? 0),
    ),
    table(
      "FLAGS",
      "u32",
      all.map((op) => op?.flags ?? 0),
    ),
    table(
      "COUNTER",
      "u8",
      all.map((op) => (op ? counterClasses.indexOf(op.counter) : 0)),
    ),
    table(
      "ISSUE_CYCLES",
      "u8",
      all.map((op) => (op ? issueCycles({ op }) : 0)),
    ),
    table(
      "SWAP",
      "u16",
      all.map((op) => (op?.swap === undefined ? 0 : idOf.get(op.swap)!)),
    ),
    table(
      "OTHER_FORM",
      "u16",
      all.map((op) => (op ? (idOf.get(otherForm(op.mnemonic)) ?? 0) : 0)),
    ),
    table(
      "LITERAL_FIELDS",
      "u8",
      all.map((op) => (op ? literalFields(op) : 0)),
    ),
    "// Six operand words an op: two destinations, four sources.",
    table(
      "OPERANDS",
      "u16",
      all.flatMap((op) =>
        [0, 1].map((i) => operandBits(op?.dst[i])).concat([0, 1, 2, 3].map((i) => operandBits(op?.src[i]))),
      ),
    ),
    lookup("The `Format`.", "opFormat", "FORMAT", "u8", 0),
    lookup("The hardware opcode within its format.", "opCode", "CODE", "u16", 1),
    lookup("`OpFlag` bits.", "opFlags", "FLAGS", "u32", 2),
    lookup("The `Counter` class.", "opCounter", "COUNTER", "u8", 0),
    lookup("Cycles that a SIMD needs to issue it: our model.", "opIssueCycles", "ISSUE_CYCLES", "u8", 0),
    lookup(
      "The op to use with source 0 and 1 exchanged (itself where they commute); `Op.none`: never exchange.",
      "opSwap",
      "SWAP",
      "u16",
      1,
    ),
    lookup(
      "The `_e64` op of an `_e32` one and the other way round; `Op.none` where there is one form.",
      "opOtherForm",
      "OTHER_FORM",
      "u16",
      1,
    ),
    lookup(
      "Bits 0..2: src0..src2 may hold the literal marker; bit 3: a literal dword always follows.",
      "opLiteralFields",
      "LITERAL_FIELDS",
      "u8",
      0,
    ),
    operandLookups(),
  ];
  return parts.join("\n");
}

function otherForm(mnemonic: string): string {
  if (mnemonic.endsWith("_e32")) return mnemonic.replace(/_e32$/, "_e64");
  if (mnemonic.endsWith("_e64")) return mnemonic.replace(/_e64$/, "_e32");
  return "";
}

function operandLookups(): string {
  return `/** Destination \`i\` (0, 1): kind [3:0], dwords [8:4], type [11:9], neg 12, abs 13, literal 14; 0 is none. */
export function opDst(op: u32, i: u32): u32 {
  return load<u16>(OPERANDS + (<usize>(op * 6 + i) << 1));
}

/** Source \`i\` (0..3) in assembler order, as \`opDst\`. */
export function opSrc(op: u32, i: u32): u32 {
  return load<u16>(OPERANDS + (<usize>(op * 6 + 2 + i) << 1));
}

/** The \`OperandKind\` of an operand word. */
export function operandKind(operand: u32): u32 {
  return operand & 15;
}

/** Registers that an operand word spans. */
export function operandDwords(operand: u32): u32 {
  return (operand >>> 4) & 31;
}

/** The \`ValueType\` of an operand word. */
export function operandType(operand: u32): u32 {
  return (operand >>> 9) & 7;
}

/** Whether VOP3's neg applies to an operand word. */
export function operandTakesNeg(operand: u32): bool {
  return ((operand >>> 12) & 1) != 0;
}

/** Whether VOP3's abs applies to an operand word. */
export function operandTakesAbs(operand: u32): bool {
  return ((operand >>> 13) & 1) != 0;
}

/** Whether an operand word may be the literal marker. */
export function operandTakesLiteral(operand: u32): bool {
  return ((operand >>> 14) & 1) != 0;
}
`;
}

/** Fixed bits of the first dword, the flat segment included. */
function fixedBits(name: FormatName): number {
  const { lsb, value } = formats[name].encoding;
  return ((value << lsb) | ((flatSegments[name] ?? 0) << 14)) >>> 0;
}

function packer(name: FormatName): string {
  const format = formats[name];
  const fields: readonly Field[] = format.fields;
  const params = fields.filter((f) => f.name !== "op" && f.name !== "seg");
  const type = format.dwords === 2 ? "u64" : "u32";
  const term = (f: Field, value: string) => {
    const masked = f.signed ? `(${value} & ${mask(f.width)})` : value;
    const wide = type === "u64" ? `<u64>${masked}` : masked;
    return f.lsb === 0 ? wide : `(${wide} << ${f.lsb})`;
  };
  const checks = params.map((f) =>
    f.signed
      ? `  assert(${f.name} >= -${2 ** (f.width - 1)} && ${f.name} < ${2 ** (f.width - 1)});`
      : `  assert(${f.name} <= ${mask(f.width)});`,
  );
  const terms = [
    `0x${fixedBits(name).toString(16)}`,
    ...[fields[0]!, ...params].map((f) => term(f, f.name === "op" ? "opCode(op)" : f.name)),
  ];
  const signature = ["op: u32", ...params.map((f) => `${f.name}: ${f.signed ? "i32" : "u32"}`)].join(", ");
  const doc = format.dwords === 2 ? "first dword in the low half" : "one dword";
  return `/** ${name}, ${doc}. */
export function pack${formatName(name)}(${signature}): ${type} {
  assert(opFormat(op) == Format.${name});
${checks.join("\n")}
  return ${terms.join(" | ")};
}
`;
}

function secondPacker(name: keyof typeof secondDwords): string {
  const fields: readonly Field[] = secondDwords[name].fields;
  const checks = fields.map((f) => `  assert(${f.name} <= ${mask(f.width)});`);
  const terms = fields.map((f) => (f.lsb === 0 ? f.name : `(${f.name} << ${f.lsb})`));
  return `/** The second dword of a ${name} form. */
export function pack${formatName(name as FormatName)}(${fields.map((f) => `${f.name}: u32`).join(", ")}): u32 {
${checks.join("\n")}
  return ${terms.join(" | ")};
}
`;
}

function encodeFile(): string {
  return [
    header,
    "/** Field packing for the compiler's back end. The simulator must not import this file. */\n",
    'import { Format, opCode, opFormat } from "./isa-ops.ts";\n',
    ...formatNames.map(packer),
    ...(Object.keys(secondDwords) as (keyof typeof secondDwords)[]).map(secondPacker),
  ].join("\n");
}

function getter(prefix: string, f: Field, dwords: number): string {
  const word = f.lsb >= 32 ? "hi" : dwords === 2 ? "lo" : "w";
  const lsb = f.lsb % 32;
  const name = `${prefix}${pascal(f.name)}`;
  const shifted = lsb === 0 ? word : `(${word} >>> ${lsb})`;
  const body = f.signed
    ? `<i32>(${word} << ${32 - f.width - lsb}) >> ${32 - f.width}`
    : lsb + f.width === 32
      ? `${word} >>> ${lsb}`
      : `${shifted} & ${mask(f.width)}`;
  return `export function ${name}(${word}: u32): ${f.signed ? "i32" : "u32"} {\n  return ${body};\n}\n`;
}

function decodeFile(): string {
  const tables: string[] = [];
  const tests: string[] = [];
  for (const name of formatNames) {
    if (name === "VOP3B" || name === "SCRATCH" || name === "GLOBAL") continue; // shared with VOP3 and FLAT
    const format = formats[name];
    const opField = format.fields[0]!;
    const members: readonly FormatName[] =
      name === "VOP3" ? ["VOP3", "VOP3B"] : name === "FLAT" ? ["FLAT", "SCRATCH", "GLOBAL"] : [name];
    const size = (name === "FLAT" ? 4 : 1) << opField.width;
    const values = new Array<number>(size).fill(0);
    for (const op of ops) {
      if (members.includes(op.format)) values[((flatSegments[op.format] ?? 0) << opField.width) | op.opcode] = op.id;
    }
    tables.push(table(name, "u16", values));
    const { lsb, width, value } = format.encoding;
    const code = `((w >>> ${opField.lsb}) & ${mask(opField.width)})`;
    const index = name === "FLAT" ? `((((w >>> 14) & 3) << ${opField.width}) | ${code})` : code;
    const condition =
      lsb + width === 32
        ? `w >>> ${lsb} == 0x${value.toString(16)}`
        : `((w >>> ${lsb}) & ${mask(width)}) == 0x${value.toString(16)}`;
    tests.push(`  if (${condition}) return load<u16>(${name} + (<usize>${index} << 1));`);
  }
  const getters: string[] = [];
  for (const name of formatNames) {
    if (name === "SCRATCH" || name === "GLOBAL") continue; // FLAT's fields
    for (const f of formats[name].fields) {
      if (f.name !== "op") getters.push(getter(name.toLowerCase(), f, formats[name].dwords));
    }
  }
  for (const [name, second] of Object.entries(secondDwords)) {
    for (const f of second.fields) getters.push(getter(name.toLowerCase(), f, 1));
  }
  const wide = formatNames.filter((name) => formats[name].dwords === 2).map((name) => `f == Format.${name}`);
  const markers = Object.values(secondDwords)
    .flatMap((s) => s.markers as readonly number[])
    .map((m) => `s == ${m}`);
  return [
    header,
    "/** Opcode lookup and field extraction for the simulator. */\n",
    'import { Format, opFormat, opLiteralFields } from "./isa-ops.ts";\n',
    ...tables,
    `/** The \`Op\` of an instruction's first dword; \`Op.none\` where the rows have none. */
export function decodeOp(w: u32): u32 {
${tests.join("\n")}
  return 0;
}

/** Dwords of the instruction without literal, DPP or SDWA dword. */
export function baseDwords(op: u32): u32 {
  const f = opFormat(op);
  return ${wide.join(" || ")} ? 2 : 1;
}

/** Whether a literal dword follows the base dwords; \`hi\` is ignored by one-dword formats. */
export function hasLiteral(op: u32, lo: u32, hi: u32): bool {
  const fields = opLiteralFields(op);
  if (fields == 0) return false;
  if ((fields & 8) != 0) return true;
  const f = opFormat(op);
  if (f == Format.VOP3 || f == Format.VOP3B || f == Format.VOP3P) {
    if ((fields & 1) != 0 && vop3Src0(hi) == 255) return true;
    if ((fields & 2) != 0 && vop3Src1(hi) == 255) return true;
    return (fields & 4) != 0 && vop3Src2(hi) == 255;
  }
  if (f == Format.VOP1 || f == Format.VOP2 || f == Format.VOPC) return vop1Src0(lo) == 255;
  if ((fields & 1) != 0 && sop2Src0(lo) == 255) return true;
  return (fields & 2) != 0 && sop2Src1(lo) == 255;
}

/** Whether a DPP16, DPP8 or SDWA dword follows. */
export function hasSecondDword(op: u32, lo: u32): bool {
  const f = opFormat(op);
  if (f != Format.VOP1 && f != Format.VOP2 && f != Format.VOPC) return false;
  const s = vop1Src0(lo);
  return ${markers.join(" || ")};
}

/** Dwords of the whole instruction. */
export function instructionDwords(op: u32, lo: u32, hi: u32): u32 {
  if (opFormat(op) == Format.MIMG) return 2 + mimgNsa(lo);
  return baseDwords(op) + (hasLiteral(op, lo, hi) || hasSecondDword(op, lo) ? 1 : 0);
}
`,
    "// Fields: `w` or `lo` is the first dword, `hi` the second.\n",
    ...getters,
  ].join("\n");
}

/** The entry of a module that tests run: packs from an argument array, decodes, and nothing else imports it. */
function checkFile(): string {
  const cases = formatNames.map((name) => {
    const count = formats[name].fields.filter((f) => f.name !== "op" && f.name !== "seg").length;
    const args = Array.from({ length: count }, (_, i) => `a(${i})`).join(", ");
    return `    case Format.${name}:\n      return pack${formatName(name)}(op, ${args});`;
  });
  return [
    header,
    "/** Entry of the module by which tests check isa-encode.ts and isa-decode.ts; not part of the product. */\n",
    'import { baseDwords, decodeOp, instructionDwords } from "./isa-decode.ts";',
    `import { ${formatNames.map((name) => `pack${formatName(name)}`).join(", ")} } from "./isa-encode.ts";`,
    'import { Format, opFormat } from "./isa-ops.ts";\n',
    `const ARGS = memory.data(128);

/** Address of the argument words: field values in the order of the packing function's parameters. */
export function args(): usize {
  return ARGS;
}

function a(i: i32): u32 {
  return load<u32>(ARGS + (<usize>i << 2));
}

/** The packed base dwords, the first in the low half. */
export function pack(op: u32): u64 {
  switch (opFormat(op)) {
${cases.join("\n")}
    default:
      return 0;
  }
}

/** The op of a first dword. */
export function lookUp(w: u32): u32 {
  return decodeOp(w);
}

/** Base dwords in the high half, all dwords in the low half. */
export function lengths(op: u32, lo: u32, hi: u32): u32 {
  return (baseDwords(op) << 16) | instructionDwords(op, lo, hi);
}
`,
  ].join("\n");
}

/** The files of the ISA in `assembly/gen`. */
export function generate(): { path: string; text: string }[] {
  return [
    { path: "assembly/gen/isa-ops.ts", text: opsFile() },
    { path: "assembly/gen/isa-encode.ts", text: encodeFile() },
    { path: "assembly/gen/isa-decode.ts", text: decodeFile() },
    { path: "assembly/gen/isa-check.ts", text: checkFile() },
  ];
}
