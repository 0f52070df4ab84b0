import { Bug, invariant, takeWords } from "../base/index.ts";
import { AddressingModel, Capability, MemoryModel, Op, StorageClass } from "./enums.ts";
import { instructionRow } from "./grammar.ts";
import { encodeString } from "./literals.ts";
import { type Id, TypePool } from "./type-pool.ts";
import { magicNumber, type SpirvTarget, targetVersion } from "./version.ts";
import { maxInstructionWords, WordBuffer } from "./word-buffer.ts";

interface Entry {
  readonly model: number;
  readonly fn: Id;
  readonly name: string;
  readonly interface: readonly Id[] | undefined;
}

/** What an instruction without result does to its block. */
const ENDS_BLOCK = 1;
const NEEDS_BRANCH = 2;
const effects = new Uint8Array(0x10000);
for (const opcode of [
  Op.OpBranch,
  Op.OpBranchConditional,
  Op.OpSwitch,
  Op.OpReturn,
  Op.OpReturnValue,
  Op.OpKill,
  Op.OpUnreachable,
  Op.OpTerminateInvocation,
]) {
  effects[opcode] = ENDS_BLOCK;
}
effects[Op.OpSelectionMerge] = NEEDS_BRANCH;
effects[Op.OpLoopMerge] = NEEDS_BRANCH;

/** What is to be done before the next instruction; 0: nothing. */
const NO_BLOCK = 1;
const AFTER_MERGE = 2;
const LINE_CHANGED = 4;

/**
 * Writes a SPIR-V module: hands out ids, keeps types and constants unique, and puts every instruction into its section.
 * Operands are words: ids, enumerants, literals. Calling it out of order (code without a block) throws `Bug`.
 * What no instruction can hold throws `InstructionTooLong`; debug names are cut instead. After `reset` it writes another
 * module in the memory of the one before.
 */
export class ModuleBuilder extends TypePool {
  /** The version word of the header. */
  version = 0;
  private capabilities = new Int32Array(64);
  private capabilityCount = 0;
  private lastCapability = -1;
  private standardSet: Id = 0;
  private extensions: string[] = [];
  private readonly imports = new Map<string, Id>();
  private readonly importWords = new WordBuffer();
  private readonly entryPoints: Entry[] = [];
  private entryCount = 0;
  private readonly modes = new WordBuffer();
  /** Ids of texts after the first, which is mostly the only one. */
  private readonly strings = new Map<string, Id>();
  private firstString = "";
  private firstStringId: Id = 0;
  private lastString = "";
  private lastStringId: Id = 0;
  private readonly stringWords = new WordBuffer();
  private readonly sourceWords = new WordBuffer();
  private readonly names = new WordBuffer(1024);
  /** Functions before the last. */
  private readonly code = new WordBuffer(2048);
  /** The function in the making, or the last: OpFunction, parameters and the first label; its variables; the rest of its code. */
  private readonly head = new WordBuffer();
  private readonly locals = new WordBuffer();
  private readonly body = new WordBuffer(2048);
  /** What stands before the code, in its order. */
  private readonly preamble = new WordBuffer();
  private readonly model = new WordBuffer();
  private readonly sections: readonly WordBuffer[] = [
    this.preamble,
    this.importWords,
    this.model,
    this.modes,
    this.stringWords,
    this.sourceWords,
    this.names,
    this.annotations,
    this.globals,
    this.code,
    this.head,
    this.locals,
    this.body,
  ];
  /** Ids and storage classes of the global variables, in turn. */
  private readonly variables = new WordBuffer();
  private addressing: number = AddressingModel.Logical;
  private memory: number = MemoryModel.GLSL450;
  private inFunction = false;
  private hasBlock = false;
  /** `NO_BLOCK` and the others, as bits. */
  private before = NO_BLOCK;
  /** The place that code to come has (line -1: none), and the one that the last OpLine gave. */
  private wantedFile: Id = 0;
  private wantedLine = -1;
  private wantedColumn = 0;
  private writtenFile: Id = 0;
  private writtenLine = -1;
  private writtenColumn = 0;

  constructor(target: SpirvTarget) {
    super();
    this.version = targetVersion[target];
  }

  /** Starts another module; of the one before, finished or not, nothing is left but the memory. */
  reset(target: SpirvTarget): void {
    this.resetPool();
    this.version = targetVersion[target];
    this.capabilityCount = 0;
    this.lastCapability = -1;
    this.standardSet = 0;
    if (this.extensions.length > 0) this.extensions = [];
    if (this.imports.size > 0) this.imports.clear();
    this.entryCount = 0;
    if (this.strings.size > 0) this.strings.clear();
    this.firstStringId = 0;
    this.lastStringId = 0;
    this.variables.clear();
    this.addressing = AddressingModel.Logical;
    this.memory = MemoryModel.GLSL450;
    this.inFunction = false;
    this.before = NO_BLOCK;
    for (let at = 0; at < this.sections.length; at++) this.sections[at]!.clear();
  }

  capability(capability: number): void {
    // in the order in which the module has them; few, and most calls repeat the last one
    if (capability === this.lastCapability) return;
    this.lastCapability = capability;
    for (let at = 0; at < this.capabilityCount; at++) if (this.capabilities[at] === capability) return;
    if (this.capabilityCount === this.capabilities.length) {
      const grown = new Int32Array(2 * this.capabilityCount);
      grown.set(this.capabilities);
      this.capabilities = grown;
    }
    this.capabilities[this.capabilityCount++] = capability;
  }

  extension(name: string): void {
    if (!this.extensions.includes(name)) this.extensions.push(name);
  }

  /** The id of an extended instruction set, imported once: `extInstImport("GLSL.std.450")`. */
  extInstImport(name: string): Id {
    let id = this.imports.get(name);
    if (id === undefined) {
      id = this.id();
      this.imports.set(name, id);
      this.importWords.text(Op.OpExtInstImport, id, -1, name);
    }
    return id;
  }

  /** Default: Logical, GLSL450. */
  memoryModel(addressing: number, memory: number): void {
    this.addressing = addressing;
    this.memory = memory;
  }

  /** Pointers to memory as 64-bit addresses, with what that needs. */
  physicalAddressing(): void {
    this.capability(Capability.PhysicalStorageBufferAddresses);
    if (this.version < 0x10500) this.extension("SPV_KHR_physical_storage_buffer");
    this.addressing = AddressingModel.PhysicalStorageBuffer64;
  }

  /**
   * Declares an entry point. Without `interfaceIds` the interface is every global variable (from version 1.4 on) or
   * every Input and Output variable (before).
   */
  entryPoint(model: number, fn: Id, name: string, interfaceIds?: readonly Id[]): void {
    this.entryPoints[this.entryCount++] = { model, fn, name, interface: interfaceIds };
  }

  executionMode(fn: Id, mode: number, ...operands: readonly number[]): void {
    const { modes } = this;
    const start = modes.open(Op.OpExecutionMode, operands.length + 3);
    const { store } = modes;
    store[start] = fn;
    store[start + 1] = mode;
    for (let at = 0; at < operands.length; at++) store[start + 2 + at] = operands[at]!;
  }

  /** For modes whose operands are ids (`LocalSizeId`). */
  executionModeId(fn: Id, mode: number, ...operands: readonly Id[]): void {
    this.modes.instruction(Op.OpExecutionModeId, [fn, mode, ...operands]);
  }

  /** The id of an OpString, one for each text. */
  string(text: string): Id {
    if (this.lastStringId !== 0 && text === this.lastString) return this.lastStringId;
    const id = this.stringId(text);
    this.lastString = text;
    this.lastStringId = id;
    return id;
  }

  private stringId(text: string): Id {
    const isKnown = this.firstStringId !== 0;
    if (isKnown && text === this.firstString) return this.firstStringId;
    let id = isKnown ? this.strings.get(text) : undefined;
    if (id !== undefined) return id;
    id = this.id();
    this.stringWords.text(Op.OpString, id, -1, text);
    if (isKnown) {
      this.strings.set(text, id);
      return id;
    }
    this.firstString = text;
    this.firstStringId = id;
    return id;
  }

  /** OpSource; a text that is too long for one instruction continues in OpSourceContinued. */
  source(language: number, version: number, file?: Id, text?: string): void {
    const { sourceWords } = this;
    if (file === undefined || text === undefined) {
      const at = sourceWords.open(Op.OpSource, file === undefined ? 3 : 4);
      sourceWords.store[at] = language;
      sourceWords.store[at + 1] = version;
      if (file !== undefined) sourceWords.store[at + 2] = file;
      return;
    }
    const parts = splitText(text, (maxInstructionWords - 6) * 4);
    const first = parts[0] === undefined ? [] : encodeString(parts[0]);
    this.sourceWords.instruction(Op.OpSource, [language, version, file, ...first]);
    for (const part of parts.slice(1)) this.sourceWords.instruction(Op.OpSourceContinued, encodeString(part));
  }

  sourceExtension(name: string): void {
    this.sourceWords.instruction(Op.OpSourceExtension, encodeString(name));
  }

  name(id: Id, text: string): void {
    this.names.text(Op.OpName, id, -1, cutName(text));
  }

  memberName(struct: Id, member: number, text: string): void {
    this.names.text(Op.OpMemberName, struct, member, cutName(text));
  }

  /** A module-level variable. `pointer` is its pointer type, of the same storage class. */
  globalVariable(pointer: Id, storageClass: number, initializer?: Id): Id {
    const id = this.id();
    variable(this.globals, pointer, id, storageClass, initializer);
    this.variables.push(id);
    this.variables.push(storageClass);
    return id;
  }

  /** Starts a function; `id` where it was handed out before (a call ahead of the definition). */
  beginFunction(returns: Id, type: Id, control = 0, id: Id = this.id()): Id {
    invariant(!this.inFunction, "function inside a function");
    this.inFunction = true;
    const { head } = this;
    if (head.length > 0) this.keepFunction();
    const at = head.open(Op.OpFunction, 5);
    const { store } = head;
    store[at] = returns;
    store[at + 1] = id;
    store[at + 2] = control;
    store[at + 3] = type;
    this.hasBlock = false;
    this.wantedLine = -1;
    this.writtenLine = -1;
    return id;
  }

  parameter(type: Id): Id {
    this.needFunction();
    const { head } = this;
    const id = this.id();
    const at = head.open(Op.OpFunctionParameter, 3);
    head.store[at] = type;
    head.store[at + 1] = id;
    return id;
  }

  /** Starts a block. The block before must have its terminator. */
  label(id: Id = this.id()): Id {
    this.needFunction();
    invariant((this.before & NO_BLOCK) !== 0, "label inside an open block");
    const words = this.hasBlock ? this.body : this.head;
    const at = words.open(Op.OpLabel, 2);
    words.store[at] = id;
    this.hasBlock = true;
    this.writtenLine = -1;
    this.before = this.wantedLine < 0 ? 0 : LINE_CHANGED;
    return id;
  }

  /** True between a label and its terminator. */
  get inBlock(): boolean {
    return (this.before & NO_BLOCK) === 0;
  }

  /** A variable of storage class Function; it goes to the start of the first block wherever it is asked for. */
  localVariable(pointer: Id, initializer?: Id): Id {
    this.needFunction();
    const id = this.id();
    variable(this.locals, pointer, id, StorageClass.Function, initializer);
    return id;
  }

  /** Later instructions come from this place (line and column count from 1); written only where it changes. */
  line(file: Id, line: number, column: number): void {
    this.wantedFile = file;
    this.wantedLine = line;
    this.wantedColumn = column;
    const same = line === this.writtenLine && column === this.writtenColumn && file === this.writtenFile;
    if (same) this.before &= ~LINE_CHANGED;
    else this.before |= LINE_CHANGED;
  }

  noLine(): void {
    this.wantedLine = -1;
    if (this.writtenLine < 0) this.before &= ~LINE_CHANGED;
    else this.before |= LINE_CHANGED;
  }

  /**
   * An instruction without result in the open block; a terminator closes the block. Operands one by one need no list,
   * which is what most instructions are made of.
   */
  emit(opcode: number, a?: number, b?: number, c?: number, d?: number, e?: number): void {
    let count = a === undefined ? 1 : b === undefined ? 2 : c === undefined ? 3 : d === undefined ? 4 : 5;
    if (e !== undefined) count = 6;
    const at = this.open(opcode, count);
    const { store } = this.body;
    if (a !== undefined) store[at] = a;
    if (b !== undefined) store[at + 1] = b;
    if (c !== undefined) store[at + 2] = c;
    if (d !== undefined) store[at + 3] = d;
    if (e !== undefined) store[at + 4] = e;
    if (effects[opcode] !== 0) this.applyEffect(effects[opcode]!);
  }

  /** As `emit` for any number of operands. */
  emitWords(opcode: number, operands: readonly number[]): void {
    const start = this.open(opcode, operands.length + 1);
    const { store } = this.body;
    for (let at = 0; at < operands.length; at++) store[start + at] = operands[at]!;
    if (effects[opcode] !== 0) this.applyEffect(effects[opcode]!);
  }

  private applyEffect(effect: number): void {
    if (effect === NEEDS_BRANCH) {
      this.before |= AFTER_MERGE;
      return;
    }
    this.before = NO_BLOCK;
    this.writtenLine = -1;
  }

  /** An instruction with result type and result; the operands follow the result. */
  emitResult(opcode: number, type: Id, a?: number, b?: number, c?: number, d?: number, e?: number, f?: number): Id {
    const id = this.id();
    let count = a === undefined ? 3 : b === undefined ? 4 : c === undefined ? 5 : d === undefined ? 6 : 7;
    if (e !== undefined) count = f === undefined ? 8 : 9;
    const at = this.open(opcode, count);
    const { store } = this.body;
    store[at] = type;
    store[at + 1] = id;
    if (a !== undefined) store[at + 2] = a;
    if (b !== undefined) store[at + 3] = b;
    if (c !== undefined) store[at + 4] = c;
    if (d !== undefined) store[at + 5] = d;
    if (e !== undefined) store[at + 6] = e;
    if (f !== undefined) store[at + 7] = f;
    return id;
  }

  /**
   * A pointer `count` indices further than `base`, and one index more where there is one; the indices are in `indices`
   * from `first` on.
   */
  accessChain(pointer: Id, base: Id, indices: ArrayLike<Id>, first: number, count: number, last?: Id): Id {
    const id = this.id();
    const start = this.open(Op.OpAccessChain, count + (last === undefined ? 4 : 5));
    const { store } = this.body;
    store[start] = pointer;
    store[start + 1] = id;
    store[start + 2] = base;
    for (let at = 0; at < count; at++) store[start + 3 + at] = indices[first + at]!;
    if (last !== undefined) store[start + 3 + count] = last;
    return id;
  }

  /** As `emitResult` for any number of operands. */
  emitResultWords(opcode: number, type: Id, operands: readonly number[]): Id {
    const id = this.id();
    const start = this.open(opcode, operands.length + 3);
    const { store } = this.body;
    store[start] = type;
    store[start + 1] = id;
    for (let at = 0; at < operands.length; at++) store[start + 2 + at] = operands[at]!;
    return id;
  }

  /** Starts an instruction of the open block, and gives the place of its second word in the store of `body`. */
  private open(opcode: number, count: number): number {
    // this is the busiest place of all
    if (this.before !== 0) this.prepare(opcode);
    return this.body.open(opcode, count);
  }

  private prepare(opcode: number): void {
    if ((this.before & NO_BLOCK) !== 0) {
      this.needFunction();
      throw new Bug(`${instructionRow(opcode)?.name} outside a block`);
    }
    // a merge and its branch are neighbours: no line between them
    if ((this.before & AFTER_MERGE) !== 0) this.before &= ~AFTER_MERGE;
    else this.flushLine();
  }

  /** A `GLSL.std.450` instruction. */
  extInst(type: Id, instruction: number, operands: readonly Id[]): Id {
    if (this.standardSet === 0) this.standardSet = this.extInstImport("GLSL.std.450");
    const id = this.id();
    const start = this.open(Op.OpExtInst, operands.length + 5);
    const { store } = this.body;
    store[start] = type;
    store[start + 1] = id;
    store[start + 2] = this.standardSet;
    store[start + 3] = instruction;
    for (let at = 0; at < operands.length; at++) store[start + 4 + at] = operands[at]!;
    return id;
  }

  endFunction(): void {
    this.needFunction();
    invariant((this.before & NO_BLOCK) !== 0, "function ends inside an open block");
    this.body.open(Op.OpFunctionEnd, 1);
    this.inFunction = false;
  }

  /** Makes room for another function. */
  private keepFunction(): void {
    const { code, head, locals, body } = this;
    code.append(head);
    code.append(locals);
    code.append(body);
    head.clear();
    locals.clear();
    body.clear();
  }

  /** The whole module, sections in the specification's order. A small one may share its buffer with other modules. */
  finish(): Uint32Array {
    invariant(!this.inFunction, "module ends inside a function");
    this.writePreamble();
    this.writeModel();
    const { sections } = this;
    let length = 0;
    for (let at = 0; at < sections.length; at++) length += sections[at]!.length;
    const words = takeWords(length);
    let end = 0;
    for (let at = 0; at < sections.length; at++) end = sections[at]!.copyTo(words, end);
    return words;
  }

  private writePreamble(): void {
    const { preamble, capabilities } = this;
    preamble.push(magicNumber);
    preamble.push(this.version);
    preamble.push(0);
    preamble.push(this.bound);
    preamble.push(0);
    for (let each = 0; each < this.capabilityCount; each++) {
      const at = preamble.open(Op.OpCapability, 2);
      preamble.store[at] = capabilities[each]!;
    }
    for (const name of this.extensions) preamble.text(Op.OpExtension, -1, -1, name);
  }

  private writeModel(): void {
    const { model } = this;
    const at = model.open(Op.OpMemoryModel, 3);
    model.store[at] = this.addressing;
    model.store[at + 1] = this.memory;
    for (let each = 0; each < this.entryCount; each++) {
      const entry = this.entryPoints[each]!;
      const start = model.length;
      model.text(Op.OpEntryPoint, entry.model, entry.fn, entry.name);
      if (entry.interface === undefined) this.defaultInterface(model);
      else for (const id of entry.interface) model.push(id);
      model.stretch(start);
    }
  }

  private defaultInterface(words: WordBuffer): void {
    const { store, length } = this.variables;
    for (let at = 0; at < length; at += 2) {
      const storageClass = store[at + 1];
      const inOut = storageClass === StorageClass.Input || storageClass === StorageClass.Output;
      if (inOut || this.version >= 0x10400) words.push(store[at]!);
    }
  }

  private needFunction(): void {
    if (!this.inFunction) throw new Bug("no open function");
  }

  private flushLine(): void {
    const { body, wantedFile, wantedLine, wantedColumn } = this;
    this.before &= ~LINE_CHANGED;
    this.writtenLine = wantedLine;
    if (wantedLine < 0) {
      body.open(Op.OpNoLine, 1);
      return;
    }
    const at = body.open(Op.OpLine, 4);
    const { store } = body;
    store[at] = wantedFile;
    store[at + 1] = wantedLine;
    store[at + 2] = wantedColumn;
    this.writtenFile = wantedFile;
    this.writtenColumn = wantedColumn;
  }
}

function variable(words: WordBuffer, pointer: Id, id: Id, storageClass: number, initializer: Id | undefined): void {
  const at = words.open(Op.OpVariable, initializer === undefined ? 4 : 5);
  const { store } = words;
  store[at] = pointer;
  store[at + 1] = id;
  store[at + 2] = storageClass;
  if (initializer !== undefined) store[at + 3] = initializer;
}

/** A name as far as it fits into an instruction beside an id and a member's number. */
function cutName(text: string): string {
  // most names are short, and a code unit takes at most 3 bytes
  const limitBytes = (maxInstructionWords - 4) * 4;
  return text.length * 3 <= limitBytes ? text : splitText(text, limitBytes)[0]!;
}

/** Cuts a text into pieces of at most `limitBytes` of UTF-8, never inside a code point. */
function splitText(text: string, limitBytes: number): string[] {
  // a code unit takes at most 3 bytes (a surrogate pair 4 for two units)
  const step = Math.floor(limitBytes / 3);
  const parts: string[] = [];
  for (let at = 0; at < text.length || at === 0; ) {
    let end = Math.min(text.length, at + step);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    parts.push(text.slice(at, end));
    at = Math.max(end, at + 1);
  }
  return parts;
}
