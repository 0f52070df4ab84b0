import type * as ast from "../syntax/index.ts";
import {
  alignBytes,
  arrayStride,
  arrayType,
  containsOpaque,
  containsUnsized,
  type Member,
  type Packing,
  type ReferenceType,
  referenceType,
  type StructType,
  sizeBytes,
  structType,
  type Type,
  typeName,
} from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { containsInteger, InterfaceChecker } from "./interfaces.ts";
import { locationCount } from "./locations.ts";
import { noLayout, packingOf, type Qualifiers } from "./qualifiers.ts";
import type { BlockLayout, Storage, Variable } from "./tree.ts";
import { newVariable } from "./variable.ts";

/** What a storage buffer may have at most: `maxStorageBufferRange`, and what an offset in SPIR-V can say. */
const BLOCK_LIMIT_BYTES = 0xffff_ffff;

const plainDefaults: Readonly<Record<"uniform" | "buffer" | "shared", BlockLayout>> = {
  uniform: { packing: "std140", rowMajor: false },
  shared: { packing: "std430", rowMajor: false },
  buffer: { packing: "std430", rowMajor: false },
};

interface BlockPlace extends Range {
  readonly storage: Storage;
  readonly before: BlockPlace | undefined;
}

const blockLayouts: readonly string[] = [
  ...["std140", "std430", "scalar", "row_major", "column_major", "set", "binding", "align"],
];
const uniformBlockLayouts: readonly string[] = [...blockLayouts, "push_constant"];
const referenceLayouts: readonly string[] = ["buffer_reference", "buffer_reference_align"];

/** Uniform, buffer, shared and push-constant blocks, and blocks between the stages. */
export abstract class BlockChecker extends InterfaceChecker {
  private pushConstant: Variable | undefined;
  /** Blocks by name, the latest first: those of one interface have different names. */
  private readonly blockPlaces = new Map<string, BlockPlace>();
  /** Defaults that `layout(std430, row_major) buffer;` sets. */
  protected blockDefaults: Readonly<Record<"uniform" | "buffer" | "shared", BlockLayout>> = plainDefaults;

  /** References that were named, for their blocks to be there in the end. */
  protected references: { readonly type: ReferenceType; readonly place: Range }[] = [];

  private growingBlocks:
    | Map<readonly Member[], { readonly storage: Storage; readonly layout: BlockLayout }>
    | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.growingBlocks = undefined;
    this.pushConstant = undefined;
    if (this.blockPlaces.size > 0) this.blockPlaces.clear();
    this.blockDefaults = plainDefaults;
    if (this.references.length > 0) this.references = [];
  }

  /** `layout(buffer_reference) buffer Name;`, or the first part of the block itself: makes the type known. */
  protected reference(q: Qualifiers, name: string, place: Range): ReferenceType | undefined {
    if (q.storage !== "buffer") {
      const values = { name: "buffer_reference", what: `the storage '${q.storage ?? "none"}'` };
      this.diagnostics.error("GLSL_LAYOUT_MISPLACED", values, q.position, q.end);
      return undefined;
    }
    const previous = this.scopes.lookupHere(name);
    if (previous?.kind === "struct" && previous.type.kind === "reference") return previous.type;
    const alignBytes = q.layout.get("buffer_reference_align")?.value ?? 16;
    const type = referenceType(name, alignBytes);
    if (!this.declare(name, { kind: "struct", type, ...rangeOf(place) }, place)) return undefined;
    this.references.push({ type, place });
    return type;
  }

  private defineReference(
    type: ReferenceType,
    decl: ast.BlockDecl,
    layout: BlockLayout,
    members: readonly Member[],
  ): void {
    const place = namePlace(decl);
    if (type.block !== undefined) {
      this.diagnostics.error("GLSL_REDEFINED", { name: decl.name }, place.position, place.end);
      return;
    }
    const q = this.qualifiersOf(decl.qualifiers, decl);
    type.packing = layout.packing;
    type.rowMajor = layout.rowMajor;
    type.alignBytes = q.layout.get("buffer_reference_align")?.value ?? type.alignBytes;
    const qualified = members.map((member) => ({ ...member, memory: [...new Set([...q.memory, ...member.memory])] }));
    type.block = structType(decl.name, qualified, true);
  }

  /** `out gl_PerVertex { … };`: each member as if it were declared alone. */
  protected perVertex(decl: ast.BlockDecl, q: Qualifiers, members: readonly Member[]): void {
    const { buffer, members: placed } = this.captures.members(q, members);
    this.perVertexNames = new Set(members.map((member) => member.name));
    for (const member of placed) {
      const row = this.builtinRow(member.name);
      if (row === undefined) {
        const values = { type: decl.name, name: member.name };
        this.diagnostics.error("GLSL_NO_MEMBER", values, member.position, member.end);
      } else {
        this.redeclareBuiltin(row, { ...q, layout: noLayout, invariant: member.invariant }, member.type, member);
        const variable = this.scopes.lookupGlobal(member.name);
        const offset = member.layout.xfbOffset;
        if (offset !== undefined && variable?.kind === "variable") variable.capture = { buffer, offset };
      }
    }
  }

  /** `out Name { … } instance;` between the stages. */
  protected interfaceBlock(
    decl: ast.BlockDecl,
    q: Qualifiers,
    storage: "in" | "out",
    members: readonly Member[],
  ): void {
    const place = { position: decl.namePosition, end: decl.namePosition + decl.name.length };
    const stage = this.context.stage;
    const misplaced = stage === (storage === "in" ? "vertex" : "fragment");
    if (stage === "compute") {
      this.diagnostics.error("GLSL_COMPUTE_INTERFACE", { storage }, place.position, place.end);
    } else if (misplaced) {
      const values = { stage, kind: storage === "in" ? "input" : "output" };
      this.diagnostics.error("GLSL_NO_STAGE_BLOCKS", values, place.position, place.end);
    }
    this.checkName(decl.name, place);
    this.noteGrowing(members, false);
    this.allowLayout(q, ["location", ...this.captureLayouts(storage)], "a block");
    const captured = storage === "out" ? this.captures.members(q, members) : undefined;
    const placed = captured?.members ?? members;
    const own = members.every((member) => member.layout.location !== undefined);
    if (!misplaced && !q.layout.has("location") && !own && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_LOCATION", { name: decl.name }, place.position, place.end);
    }
    const qualified = placed.map((member) => {
      const interpolation = new Set([...q.interpolation, ...member.interpolation]);
      // members need not say so, as the reference compiler has it; Vulkan wants the decoration, OpenGL the word
      if (stage === "fragment" && !this.context.relaxed && containsInteger(member.type)) interpolation.add("flat");
      return { ...member, interpolation: [...interpolation] };
    });
    for (const member of qualified) {
      if (member.type.kind !== "error") this.checkInterfaceType(storage, member.type, member.interpolation, member);
    }
    let struct = structType(decl.name, qualified, true);
    const location = q.layout.get("location")?.value;
    if (members.some((member) => member.layout.location !== undefined)) {
      struct = structType(decl.name, withLocations(qualified, location ?? 0), true);
      for (const member of struct.members) {
        const { name, type, layout } = member;
        this.locations.use(storage, name, type, layout.location, layout.component, 0, member);
      }
    } else this.locations.use(storage, decl.name, struct, location, undefined, 0, place);
    this.declareBlock(decl, q, storage, undefined, struct, place);
  }

  /** `uniform Name { … } instance;` and its like. */
  protected block(decl: ast.BlockDecl): void {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    // its members may hold the reference itself
    const reference = q.layout.has("buffer_reference") ? this.reference(q, decl.name, namePlace(decl)) : undefined;
    const members = this.members(decl.members, q.storage === "in" || q.storage === "out" ? "interface" : "memory");
    const place = { position: decl.namePosition, end: decl.namePosition + decl.name.length };
    if (q.storage === "in" || q.storage === "out") {
      if (decl.name === "gl_PerVertex" && q.storage === "out") this.perVertex(decl, q, members);
      else this.interfaceBlock(decl, q, q.storage, members);
      return;
    }
    if (q.storage === "shared") this.needExtension("a shared block", "GL_EXT_shared_memory_block", place);
    if (q.storage !== "uniform" && q.storage !== "buffer" && q.storage !== "shared") {
      const what = `a block with the storage '${q.storage ?? "none"}'`;
      this.diagnostics.error("GLSL_UNSUPPORTED", { what }, place.position, place.end);
      for (const member of members) this.scopes.lose(member.name);
      if (decl.instance !== undefined) this.scopes.lose(decl.instance.name);
      return;
    }
    this.checkName(decl.name, place);
    const push = q.layout.has("push_constant");
    const storage: Storage = push ? "pushConstant" : q.storage;
    const allowed = q.storage === "uniform" ? uniformBlockLayouts : blockLayouts;
    this.allowLayout(q, reference === undefined ? allowed : [...allowed, ...referenceLayouts], "a block");
    const defaults = this.blockDefaults[push ? "buffer" : q.storage];
    const packing = packingOf(q.layout) ?? (push ? "std430" : defaults.packing);
    if (q.storage === "uniform" && !push && packing === "std430") {
      this.diagnostics.error("GLSL_UNIFORM_STD430", {}, q.position, q.end);
    }
    const rowMajor = q.layout.has("row_major") || (defaults.rowMajor && !q.layout.has("column_major"));
    const layout: BlockLayout = { packing, rowMajor };
    if (reference === undefined) this.noteGrowing(members, q.storage === "buffer");
    if (reference !== undefined) this.defineReference(reference, decl, layout, members);
    if (reference !== undefined && decl.instance === undefined) {
      this.checkMembers(members, storage, layout);
      return;
    }
    if (q.storage !== "shared") this.checkBinding(q, push, decl.name, place);
    this.checkMembers(members, storage, layout);
    const blockAlign = q.layout.get("align")?.value;
    const aligned =
      blockAlign === undefined
        ? members
        : members.map((m) => ({ ...m, layout: { ...m.layout, align: m.layout.align ?? blockAlign } }));
    const struct = structType(decl.name, aligned, true);
    this.declareBlock(decl, q, storage, layout, struct, place);
  }

  protected declareBlock(
    decl: ast.BlockDecl,
    q: Qualifiers,
    storage: Storage,
    layout: BlockLayout | undefined,
    struct: StructType,
    place: Range,
  ): void {
    this.noteBlock(decl.name, storage, place);
    const instance = decl.instance;
    const type = instance === undefined ? struct : this.withDimensions(struct, instance.dimensions);
    // the outermost size may come from use
    const settled =
      this.context.version.es || this.context.relaxed ? type : type.kind === "array" ? type.element : type;
    if (containsOuterUnsized(settled) && instance !== undefined && !this.hasDescriptorIndexing()) {
      this.diagnostics.error("GLSL_UNSIZED_BLOCKS", {}, instance.position, instance.end);
    }
    if (storage === "uniform" || storage === "buffer") this.checkResourceArray(type, instance ?? place);
    const constant = storage !== "buffer" && storage !== "out" && storage !== "shared";
    const variable = newVariable(instance?.name ?? decl.name, type, storage, instance ?? place, constant);
    variable.layout = layout;
    if (layout === undefined && !struct.members.some((member) => member.layout.location !== undefined)) {
      variable.location = q.layout.get("location")?.value;
    }
    if (storage !== "pushConstant" && storage !== "shared" && layout !== undefined) {
      variable.set = q.layout.get("set")?.value ?? 0;
      variable.binding = q.layout.get("binding")?.value;
    }
    if (q.memory.length > 0) variable.memory = q.memory;
    if (storage === "out" && struct.members.some((member) => member.layout.xfbOffset !== undefined)) {
      variable.capture = { buffer: this.captures.bufferOf(q), offset: undefined };
    }
    if (storage === "pushConstant") {
      if (this.pushConstant !== undefined) {
        const notes = [{ message: "the first one", ...rangeOf(this.pushConstant) }];
        this.diagnostics.error("GLSL_TWO_PUSH_CONSTANTS", {}, place.position, place.end, notes);
      }
      this.pushConstant = variable;
    }
    this.declareGlobal(variable);
    if (instance !== undefined) {
      this.checkName(instance.name, instance);
      this.declare(instance.name, variable, instance);
      return;
    }
    for (let at = 0; at < struct.members.length; at++) {
      const member = struct.members[at]!;
      const { position, end } = member;
      this.declare(member.name, { kind: "member", block: variable, member: at, position, end }, member);
    }
  }

  private noteBlock(name: string, storage: Storage, place: Range): void {
    // push constants are of the uniform interface
    const own = storage === "pushConstant" ? "uniform" : storage;
    const before = this.blockPlaces.get(name);
    let previous = before;
    while (previous !== undefined && previous.storage !== own) previous = previous.before;
    if (previous === undefined) {
      this.blockPlaces.set(name, { storage: own, before, position: place.position, end: place.end });
      return;
    }
    const notes = [{ message: "previous declaration", ...rangeOf(previous) }];
    this.diagnostics.error("GLSL_REDEFINED", { name }, place.position, place.end, notes);
  }

  protected checkBinding(q: Qualifiers, push: boolean, name: string, place: Range): void {
    if (push) {
      for (const id of ["set", "binding"]) {
        const wrong = q.layout.get(id);
        if (wrong === undefined) continue;
        this.diagnostics.error(
          "GLSL_LAYOUT_MISPLACED",
          { name: id, what: "a push_constant block" },
          wrong.position,
          wrong.end,
        );
      }
    } else if (!q.layout.has("binding") && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_BINDING", { name }, place.position, place.end);
    }
  }

  /**
   * Members declared `[]` that are no runtime array take their sizes from their highest constant index: each gets a type
   * of its own, whose size is set in the end.
   */
  private noteGrowing(members: readonly Member[], runtimeLast: boolean): void {
    if (this.context.version.es) return;
    for (let at = 0; at < members.length; at++) {
      const member: { type: Type } = members[at]!;
      const { type } = member;
      if (type.kind !== "array" || type.size !== undefined || (runtimeLast && at === members.length - 1)) continue;
      if (containsUnsized(type.element) || containsOpaque(type)) continue;
      const own = arrayType(type.element, undefined);
      member.type = own;
      this.growing ??= new Map();
      this.growing.set(own, 0);
    }
  }

  /** Gives the members that grew their sizes, and looks at their blocks with them. */
  protected settleMembers(): void {
    for (const [type, highest] of this.growing ?? []) {
      const open: { size: number | undefined } = type;
      open.size = highest + 1;
    }
    for (const [members, { storage, layout }] of this.growingBlocks ?? []) this.checkMembers(members, storage, layout);
  }

  protected checkMembers(members: readonly Member[], storage: Storage, layout: BlockLayout): void {
    let end = 0;
    // without offsets of its own each member stands behind the one before
    const placed = members.some((member) => member.layout.offset !== undefined);
    const taken: { readonly from: number; readonly to: number; readonly member: Member }[] = [];
    for (let at = 0; at < members.length; at++) {
      const member = members[at]!;
      const { name, type } = member;
      const runtime = storage === "buffer" && at === members.length - 1 && type.kind === "array";
      if (containsUnsized(type) && (!runtime || containsUnsized(type.element))) {
        if (type.kind === "array" && this.growing?.has(type) === true) {
          // its place is known when its size is
          this.growingBlocks ??= new Map();
          this.growingBlocks.set(members, { storage, layout });
          return;
        }
        this.diagnostics.error("GLSL_RUNTIME_ARRAY", { name }, member.position, member.end);
      }
      if (type.kind === "error") continue;
      if (containsOpaque(type)) {
        this.diagnostics.error("GLSL_OPAQUE_STORAGE", { type: typeName(type) }, member.position, member.end);
        continue;
      }
      const rowMajor = member.layout.rowMajor ?? layout.rowMajor;
      const align = alignBytes(type, layout.packing, rowMajor);
      const given = member.layout.offset;
      if (given !== undefined && given % align !== 0) {
        this.diagnostics.error("GLSL_OFFSET_ALIGN", { offset: given, align }, member.position, member.end);
      }
      const from = given ?? Math.ceil(end / align) * align;
      end = from + sizeBytes(type, layout.packing, rowMajor);
      const bytes = containsUnsized(type) ? end + strideOf(type, layout.packing, rowMajor) : end;
      if (bytes > BLOCK_LIMIT_BYTES) {
        const values = { name, bytes, limit: BLOCK_LIMIT_BYTES };
        this.diagnostics.error("GLSL_BLOCK_TOO_LARGE", values, member.position, member.end);
        return;
      }
      if (placed) taken.push({ from, to: end, member });
    }
    if (!placed) return;
    taken.sort((a, b) => a.from - b.from);
    for (const [at, { from, member }] of taken.entries()) {
      const before = taken[at - 1];
      if (before === undefined || from >= before.to) continue;
      const values = { offset: from, name: before.member.name };
      this.diagnostics.error("GLSL_OFFSET_OVERLAP", values, member.position, member.end);
    }
  }
}

/** Bytes from element to element of an array, 0 for anything else. */
function strideOf(type: Type, packing: Packing, rowMajor: boolean): number {
  return type.kind === "array" ? arrayStride(type.element, packing, rowMajor) : 0;
}

function namePlace(decl: ast.BlockDecl): Range {
  return { position: decl.namePosition, end: decl.namePosition + decl.name.length };
}

export function rangeOf(place: Range): Range {
  return { position: place.position, end: place.end };
}

/** Members with a location each: their own, or the one after the member before. */
function withLocations(members: readonly Member[], first: number): Member[] {
  let next = first;
  return members.map((member) => {
    const location = member.layout.location ?? next;
    next = location + locationCount(member.type);
    return { ...member, layout: { ...member.layout, location } };
  });
}

function containsOuterUnsized(type: Type): boolean {
  return type.kind === "array" && (type.size === undefined || containsOuterUnsized(type.element));
}
