import { BuiltIn, Decoration, Op } from "../enums.ts";
import { enumKind } from "../grammar.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import { walkOperands } from "../operands.ts";
import { scalarWidth } from "../reader.ts";
import type { Reports } from "../reports.ts";

/** Built-ins that a module may decorate without their capability as long as it does not use them (glslang does). */
const unguarded: ReadonlySet<number> = new Set([BuiltIn.PointSize, BuiltIn.ClipDistance, BuiltIn.CullDistance]);

/** Every instruction and enumerant needs one of its capabilities declared, by itself or through one that implies it. */
export function checkCapabilities(module: Module, reports: Reports): void {
  const capabilities = enumKind("Capability")!;
  const declared = new Set<string>();
  const work: string[] = [];
  for (const instruction of module.instructions) {
    if (instruction.opcode !== Op.OpCapability) continue;
    const row = capabilities.byValue.get(operand(module, instruction, 0));
    if (row !== undefined) work.push(row.name);
  }
  for (let name = work.pop(); name !== undefined; name = work.pop()) {
    const value = capabilities.byName.get(name)?.value;
    if (declared.has(name) || value === undefined) continue;
    // a capability implies those its own row names; aliases count as one
    for (const row of capabilities.byName.values()) {
      if (row.value !== value) continue;
      declared.add(row.name);
      work.push(...row.capabilities);
    }
  }
  const allowed = (needed: readonly string[]): boolean => needed.length === 0 || needed.some((c) => declared.has(c));

  // what was found good once need not be looked at again
  const known = new Set<string>();
  const widthOf = (id: number): number | undefined => scalarWidth(module, id);
  for (const instruction of module.instructions) {
    if (reports.full) return;
    const { opcode, row } = instruction;
    if (opcode === Op.OpCapability) continue;
    if (!allowed(row.capabilities)) complain(reports, instruction, row.name, row.capabilities);
    if (row.plain) continue;
    walkOperands(module.words, instruction.at, instruction.end, row, widthOf, (kind, at) => {
      const table = enumKind(kind);
      if (table === undefined) return;
      const value = module.words[at]!;
      const key = `${kind} ${value}`;
      if (known.has(key) || (kind === "BuiltIn" && unguarded.has(value))) return;
      const rows = table.mask ? bitsOf(value).map((bit) => table.byValue.get(bit)) : [table.byValue.get(value)];
      const lacking = rows.find((r) => r !== undefined && !allowed(r.capabilities));
      if (lacking === undefined) known.add(key);
      else complain(reports, instruction, `${kind} ${lacking.name}`, lacking.capabilities);
    });
  }
}

function bitsOf(mask: number): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 32; bit++) if ((mask >>> bit) & 1) bits.push((1 << bit) >>> 0);
  return bits;
}

function complain(reports: Reports, instruction: Instruction, what: string, needed: readonly string[]): void {
  reports.rule("SPIRV_LAYOUT", instruction, `${what} needs the capability ${needed.join(" or ")}`);
}

/** Names and decorations of members name members that are there; built-ins stand on variables, members or constants. */
export function checkAnnotationTargets(module: Module, globals: readonly Instruction[], reports: Reports): void {
  for (const instruction of globals) {
    const { opcode } = instruction;
    const target = module.definitions[operand(module, instruction, 0)];
    if (opcode === Op.OpMemberName || opcode === Op.OpMemberDecorate || opcode === Op.OpMemberDecorateString) {
      const member = operand(module, instruction, 1);
      if (target?.opcode !== Op.OpTypeStruct) reports.rule("SPIRV_DECORATION", instruction, "names no struct type");
      else if (member >= operandCount(target)) {
        reports.rule("SPIRV_DECORATION", instruction, `the struct has no member ${member}`);
      }
    } else if (opcode === Op.OpDecorate && operand(module, instruction, 1) === Decoration.BuiltIn) {
      const good = target !== undefined && /^Op(Variable|Constant|SpecConstant)/.test(target.row.name);
      if (!good) reports.rule("SPIRV_DECORATION", instruction, "a built-in is a variable, a member or a constant");
    }
  }
}
