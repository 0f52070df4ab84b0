import { allInstructions, enumTables, glslStd450Table } from "../../src/spirv/index.ts";

const header = "// Generated from the rows of src/spirv by scripts/generate/spirv.ts; never edited.\n";

/** A member name: enumerants that start with a digit get their kind in front (`Dim2D`). */
const member = (kind: string, name: string): string => (/^\d/.test(name) ? `${kind}${name}` : name);

function constEnum(name: string, kind: string, members: readonly (readonly [string, number])[]): string {
  const lines = members.map(([label, value]) => `  ${member(kind, label)} = ${value},\n`);
  return `\nexport const enum ${name} {\n${lines.join("")}}\n`;
}

/** One byte an opcode up to the highest: bit 0 in the grammar, bit 1 has a result type, bit 2 has a result id. */
function opFlags(): string {
  const rows = allInstructions();
  const bytes = new Uint8Array(Math.max(...rows.map((row) => row.opcode)) + 1);
  for (const row of rows) bytes[row.opcode] = 1 | (row.hasType ? 2 : 0) | (row.hasResult ? 4 : 0);
  const lines: string[] = [];
  for (let i = 0; i < bytes.length; i += 64) lines.push(`  ${bytes.subarray(i, i + 64).join(",")},\n`);
  return `
/** Bits of \`spvOpFlags\`. */
export const enum SpvOpFlag {
  Known = 1,
  HasType = 2,
  HasResult = 4,
}

const flags: usize = memory.data<u8>([
${lines.join("")}]);

/** Flags of an opcode; 0 for one outside the grammar. */
export function spvOpFlags(op: u32): u32 {
  return op < ${bytes.length} ? load<u8>(flags + op) : 0;
}
`;
}

/** The numbers of SPIR-V for AssemblyScript. */
export function generate(): { path: string; text: string }[] {
  const op = constEnum(
    "SpvOp",
    "Op",
    allInstructions().map((row) => [row.name, row.opcode]),
  );
  const kinds = enumTables().map(([kind, rows]) => constEnum(`Spv${kind}`, kind, rows));
  const glsl = constEnum("SpvGlslStd450", "Glsl", glslStd450Table());
  return [{ path: "assembly/gen/spirv.ts", text: header + op + kinds.join("") + glsl + opFlags() }];
}
