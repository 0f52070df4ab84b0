import { BuiltIn, Decoration, Op } from "../enums.ts";
import { enumKind, enumKindOf } from "../grammar.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import type { Reports } from "../reports.ts";

/** Built-ins that a module may decorate without their capability as long as it does not use them (glslang does). */
const unguarded: ReadonlySet<number> = new Set([BuiltIn.PointSize, BuiltIn.ClipDistance, BuiltIn.CullDistance]);

const impliedNames = new Map<number, readonly string[]>();

/** Names of a capability and of all that it implies; aliases count as one. */
function implied(capability: number): readonly string[] {
  const known = impliedNames.get(capability);
  if (known !== undefined) return known;
  const table = enumKind("Capability")!;
  const names = new Set<string>();
  const work = [table.byValue.get(capability)?.name];
  while (work.length > 0) {
    const name = work.pop();
    const value = name === undefined ? undefined : table.byName.get(name)?.value;
    if (name === undefined || value === undefined || names.has(name)) continue;
    for (const row of table.byName.values()) {
      if (row.value !== value) continue;
      names.add(row.name);
      work.push(...row.capabilities);
    }
  }
  const list = [...names];
  impliedNames.set(capability, list);
  return list;
}

/** Every instruction and enumerant needs one of its capabilities declared, by itself or through one that implies it. */
export function checkCapabilities(module: Module, reports: Reports): void {
  const declared = new Set<string>();
  for (const instruction of module.instructions) {
    if (instruction.opcode === Op.OpCapability)
      for (const name of implied(operand(module, instruction, 0))) declared.add(name);
    else if (instruction.opcode !== Op.OpLine && instruction.opcode !== Op.OpNoLine) break;
  }
  const allowed = (needed: readonly string[]): boolean => needed.length === 0 || needed.some((c) => declared.has(c));

  // what was found good once need not be looked at again
  const known = new Set<number>();
  const goodOps = new Set<number>();
  const { at, start, code } = module.enumerants;
  for (const instruction of module.instructions) {
    if (reports.full) return;
    const { opcode, row, index } = instruction;
    if (opcode === Op.OpCapability) continue;
    if (row.capabilities.length > 0 && !goodOps.has(opcode)) {
      if (allowed(row.capabilities)) goodOps.add(opcode);
      else complain(reports, instruction, row.name, row.capabilities);
    }
    for (let k = start[index]!; k < start[index + 1]!; k++) {
      const value = module.words[at[k]!]!;
      const key = value < 0x10000 ? code[k]! * 0x10000 + value : code[k]! * 2 ** 32 + value;
      if (known.has(key)) continue;
      const { kind, mask, byValue } = enumKindOf(code[k]!);
      if (kind === "BuiltIn" && unguarded.has(value)) continue;
      const rows = mask ? bitsOf(value).map((bit) => byValue.get(bit)) : [byValue.get(value)];
      const lacking = rows.find((r) => r !== undefined && !allowed(r.capabilities));
      if (lacking === undefined) known.add(key);
      else complain(reports, instruction, `${kind} ${lacking.name}`, lacking.capabilities);
    }
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
      const good = target !== undefined && (target.opcode === Op.OpVariable || target.row.isConstant);
      if (!good) reports.rule("SPIRV_DECORATION", instruction, "a built-in is a variable, a member or a constant");
    }
  }
}
