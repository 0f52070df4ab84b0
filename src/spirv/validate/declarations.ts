import { BuiltIn, Capability, Decoration, Op } from "../enums.ts";
import { enumKind, enumKindOf } from "../grammar.ts";
import { decodeString } from "../literals.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import type { Reports } from "../reports.ts";

/** Built-ins that a module may decorate without their capability as long as it does not use them (glslang does). */
const unguarded: ReadonlySet<number> = new Set([BuiltIn.PointSize, BuiltIn.ClipDistance, BuiltIn.CullDistance]);

/** Capabilities that Vulkan has in no version. Source: Vulkan specification, appendix "SPIR-V environment". */
const foreign: ReadonlySet<number> = new Set([
  Capability.Addresses,
  Capability.Linkage,
  Capability.Kernel,
  Capability.Vector16,
  Capability.Float16Buffer,
  Capability.ImageBasic,
  Capability.ImageReadWrite,
  Capability.ImageMipmap,
  Capability.Pipes,
  Capability.DeviceEnqueue,
  Capability.LiteralSampler,
  Capability.GenericPointer,
  Capability.SubgroupDispatch,
  Capability.NamedBarrier,
  Capability.PipeStorage,
]);

const storage16 = [
  "StorageBuffer16BitAccess",
  "UniformAndStorageBuffer16BitAccess",
  "StoragePushConstant16",
  "StorageInputOutput16",
  "WorkgroupMemoryExplicitLayout16BitAccessKHR",
];
const storage8 = [
  "StorageBuffer8BitAccess",
  "UniformAndStorageBuffer8BitAccess",
  "StoragePushConstant8",
  "WorkgroupMemoryExplicitLayout8BitAccessKHR",
];

/**
 * Scalar types by `width`: what allows them, capabilities or extensions. Source: SPIR-V specification, OpTypeInt and
 * OpTypeFloat, and the extensions named.
 */
const intNeeds: Readonly<Record<number, readonly string[]>> = {
  8: ["Int8", ...storage8],
  16: ["Int16", ...storage16, "SPV_AMD_gpu_shader_int16"],
  64: ["Int64"],
};
const floatNeeds: Readonly<Record<number, readonly string[]>> = {
  16: ["Float16", ...storage16, "SPV_AMD_gpu_shader_half_float", "SPV_AMD_gpu_shader_half_float_fetch"],
  64: ["Float64"],
};

/** Decorations that a later version took away: the last version that has them, as in a module's header. */
const lastVersion: ReadonlyMap<number, number> = new Map([[Decoration.BufferBlock, 0x10300]]);

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
    const { opcode, first, end } = instruction;
    if (opcode === Op.OpCapability) {
      const capability = operand(module, instruction, 0);
      for (const name of implied(capability)) declared.add(name);
      if (foreign.has(capability)) reports.rule("SPIRV_LAYOUT", instruction, "Vulkan has no such capability");
    } else if (opcode === Op.OpExtension) declared.add(decodeString(module.words, first, end));
    else if (opcode === Op.OpExtInstImport) checkSet(module, instruction, declared, reports);
    else if (opcode !== Op.OpLine && opcode !== Op.OpNoLine) break;
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
    if (opcode === Op.OpTypeInt || opcode === Op.OpTypeFloat) {
      const width = operand(module, instruction, 0);
      const needed = (opcode === Op.OpTypeInt ? intNeeds : floatNeeds)[width];
      if (needed !== undefined && !allowed(needed))
        complain(reports, instruction, `width ${width}`, needed.slice(0, 1));
    }
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

/** Non-semantic sets are part of SPIR-V from 1.6 on, and an extension before. */
function checkSet(module: Module, set: Instruction, declared: ReadonlySet<string>, reports: Reports): void {
  if (module.version >= 0x10600 || !decodeString(module.words, set.first, set.end).startsWith("NonSemantic.")) return;
  const extension = "SPV_KHR_non_semantic_info";
  if (!declared.has(extension)) reports.rule("SPIRV_LAYOUT", set, `needs the extension ${extension}`);
}

function bitsOf(mask: number): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 32; bit++) if ((mask >>> bit) & 1) bits.push((1 << bit) >>> 0);
  return bits;
}

function complain(reports: Reports, instruction: Instruction, what: string, needed: readonly string[]): void {
  reports.rule("SPIRV_LAYOUT", instruction, `${what} needs the capability ${needed.join(" or ")}`);
}

/**
 * Names and decorations of members name members that are there; built-ins stand on variables, members or constants, SpecId
 * on scalar specialisation constants.
 */
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
    } else if (opcode === Op.OpDecorate) {
      const rule = decorationRule(module, operand(module, instruction, 1), target);
      if (rule !== undefined) reports.rule("SPIRV_DECORATION", instruction, rule);
    }
  }
}

function decorationRule(module: Module, decoration: number, target: Instruction | undefined): string | undefined {
  if (module.version > (lastVersion.get(decoration) ?? module.version)) return "SPIR-V 1.4 took this decoration away";
  switch (decoration) {
    case Decoration.BuiltIn:
      return target !== undefined && (target.opcode === Op.OpVariable || target.row.isConstant)
        ? undefined
        : "a built-in is a variable, a member or a constant";
    case Decoration.SpecId:
      switch (target?.opcode) {
        case Op.OpSpecConstant:
        case Op.OpSpecConstantTrue:
        case Op.OpSpecConstantFalse:
        case Op.OpDecorationGroup:
          return undefined;
        default:
          return "SpecId stands on scalar specialisation constants";
      }
    default:
      return undefined;
  }
}
