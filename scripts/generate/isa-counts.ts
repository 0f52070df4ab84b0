/** Writes `src/isa/count-rows.ts`: what counting instructions needs of each opcode, so that a compile loads no opcode rows. */
import {
  allOps,
  classify,
  type Field,
  Flag,
  type FormatName,
  flatSegments,
  formatNames,
  formats,
  instructionClasses,
  issueCycles,
  literalFields,
  loopRoles,
  memoryKinds,
  type Op,
  secondDwords,
} from "../../src/isa/index.ts";

const sourceNames = ["src0", "src1", "src2"];
const firstCharacter = 0x23;
const noOp = "!";

/** Formats whose first dword has a place for a second form. */
const isShort = (format: FormatName) => format === "VOP1" || format === "VOP2" || format === "VOPC";

/** Layout: `CountFact` of `src/isa/count.ts`. */
function factsOf(op: Op): number {
  const isImage = op.format === "MIMG";
  const literals = isImage ? 0 : literalFields(op);
  return (
    instructionClasses.indexOf(classify({ op })) |
    (issueCycles({ op }) << 3) |
    (literals << 8) |
    (Number(isShort(op.format)) << 12) |
    (Number(op.name === "s_waitcnt") << 13) |
    (Number(op.name === "s_barrier") << 14) |
    (Number(op.name === "s_code_end") << 15) |
    (memoryKinds.indexOf(memoryKind(op)) << 16) |
    (Math.max(0, loopRoles.indexOf(loopRole(op))) << 19)
  );
}

type MemoryKind = (typeof memoryKinds)[number];
type LoopRole = (typeof loopRoles)[number];

/** Of what raises a counter that waits are for. Atomics count as loads: whether they give a value is in the instruction. */
function memoryKind(op: Op): MemoryKind {
  switch (op.counter) {
    case "lgkm":
      return op.format === "SMEM" ? "scalar" : op.format === "DS" ? "lds" : "none";
    case "vm":
    case "vm-or-vs":
      return (op.flags & Flag.Sampler) !== 0 ? "sample" : "vector";
    case "vs":
      return "store";
    default:
      return "none";
  }
}
function loopRole(op: Op): LoopRole {
  const known = (loopRoles as readonly string[]).includes(op.name);
  return known ? (op.name as LoopRole) : op.name.startsWith("s_cbranch_") ? "s_cbranch" : "none";
}

const characterOf = (fact: number): string => String.fromCharCode(firstCharacter + fact);

/** A row of the table: `CountRow` of `src/isa/count.ts`. VOP3B's opcodes stand with VOP3's. */
function rowOf(name: FormatName, facts: number[]): string {
  const format = formats[name];
  const fields = format.fields as readonly Field[];
  const own = allOps().filter((op) => op.format === name || (name === "VOP3" && op.format === "VOP3B"));
  const codes = new Array<string>(Math.max(...own.map(({ opcode }) => opcode)) + 1).fill(noOp);
  for (const op of own) {
    const fact = factsOf(op);
    if (!facts.includes(fact)) {
      // No escapes in the text: those characters stand for no facts.
      while (/[\\\x7f-\xa0\xad]/.test(characterOf(facts.length))) facts.push(-1);
      facts.push(fact);
    }
    codes[op.opcode] = characterOf(facts.indexOf(fact));
  }
  const { lsb, width, value } = format.encoding;
  const { lsb: opLsb, width: opWidth } = fields[0] as Field;
  const segment = (flatSegments as Partial<Record<FormatName, number>>)[name] ?? -1;
  const nsa = name === "MIMG" ? fields.find((field) => field.name === "nsa")!.lsb : -1;
  const sources = sourceNames.flatMap((source) => {
    const field = fields.find((each) => each.name === source);
    return field === undefined || name === "EXP" ? [] : [field.lsb, field.width];
  });
  const numbers = [lsb, width, value, segment, opLsb, opWidth, format.dwords, nsa];
  return `  [${numbers.join(", ")}, [${sources.join(", ")}], ${JSON.stringify(codes.join(""))}],`;
}

/** The file. */
export function generate(): { path: string; text: string }[] {
  const facts: number[] = [];
  const rows = formatNames.filter((name) => name !== "VOP3B").map((name) => rowOf(name, facts));
  const markers = Object.values(secondDwords).flatMap((form) => form.markers as readonly number[]);
  const text = `// Generated from the rows of src/isa by scripts/generate/isa-counts.ts. Do not edit.
import type { CountRow } from "./count.ts";

/** Of a format: encoding (lsb, width, value), flat segment, opcode (lsb, width), dwords, lsb of nsa, sources, opcodes. */
// biome-ignore format: a table
export const countRows: readonly CountRow[] = [
${rows.join("\n")}
];

/** What the characters of the rows stand for, from "${String.fromCharCode(firstCharacter)}" on. */
// biome-ignore format: a table
export const countFacts: readonly number[] = [${facts.join(", ")}];

/** Codes of source 0 behind which a DPP or SDWA dword stands. */
export const secondMarkers: readonly number[] = [${markers.join(", ")}];
`;
  return [{ path: "src/isa/count-rows.ts", text }];
}
