import { Bug, invariant } from "../base/index.ts";
import { AddressingModel, Capability, MemoryModel, Op, StorageClass } from "./enums.ts";
import { instructionRow } from "./grammar.ts";
import { encodeString } from "./literals.ts";
import { type Id, TypePool } from "./type-pool.ts";
import { magicNumber, type SpirvTarget, targetVersion } from "./version.ts";
import { maxInstructionWords, WordBuffer } from "./word-buffer.ts";

interface FunctionParts {
  /** OpFunction, parameters and the first label. */
  readonly head: WordBuffer;
  /** Function variables: the first instructions of the first block. */
  readonly locals: WordBuffer;
  readonly body: WordBuffer;
}

interface Entry {
  readonly model: number;
  readonly fn: Id;
  readonly name: string;
  readonly interface: readonly Id[] | undefined;
}

/** 1 at the opcode of each instruction that ends a block. */
const isTerminator = new Uint8Array(0x10000);
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
  isTerminator[opcode] = 1;
}

/**
 * Writes a SPIR-V module: hands out ids, keeps types and constants unique, and puts every instruction into its section.
 * Operands are words: ids, enumerants, literals. Calling it out of order (code without a block) throws `Bug`.
 * What no instruction can hold throws `InstructionTooLong`; debug names are cut instead.
 */
export class ModuleBuilder extends TypePool {
  /** The version word of the header. */
  readonly version: number;
  private readonly capabilities: number[] = [];
  private lastCapability = -1;
  private standardSet: Id = 0;
  private readonly extensions: string[] = [];
  private imports: Map<string, Id> | undefined;
  private readonly importWords = new WordBuffer();
  private readonly entries: Entry[] = [];
  private readonly modes = new WordBuffer();
  private readonly strings = new Map<string, Id>();
  private readonly stringWords = new WordBuffer();
  private readonly sourceWords = new WordBuffer();
  private readonly names = new WordBuffer();
  private readonly functions: FunctionParts[] = [];
  private readonly variables: { id: Id; storageClass: number }[] = [];
  private addressing: number = AddressingModel.Logical;
  private memory: number = MemoryModel.GLSL450;
  private current: FunctionParts | undefined;
  private openBlock = false;
  private hasBlock = false;
  private afterMerge = false;
  /** The place that code to come has, and the one that the last OpLine gave. */
  private hasWanted = false;
  private wantedFile: Id = 0;
  private wantedLine = 0;
  private wantedColumn = 0;
  private hasWritten = false;
  private writtenFile: Id = 0;
  private writtenLine = 0;
  private writtenColumn = 0;

  constructor(target: SpirvTarget) {
    super();
    this.version = targetVersion[target];
  }

  capability(capability: number): void {
    // in the order in which the module has them; few, and most calls repeat the last one
    if (capability === this.lastCapability) return;
    this.lastCapability = capability;
    if (!this.capabilities.includes(capability)) this.capabilities.push(capability);
  }

  extension(name: string): void {
    if (!this.extensions.includes(name)) this.extensions.push(name);
  }

  /** The id of an extended instruction set, imported once: `extInstImport("GLSL.std.450")`. */
  extInstImport(name: string): Id {
    this.imports ??= new Map();
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
    this.entries.push({ model, fn, name, interface: interfaceIds });
  }

  executionMode(fn: Id, mode: number, ...operands: readonly number[]): void {
    const { modes } = this;
    modes.start(Op.OpExecutionMode, operands.length + 3);
    modes.push(fn);
    modes.push(mode);
    for (let at = 0; at < operands.length; at++) modes.push(operands[at]!);
  }

  /** For modes whose operands are ids (`LocalSizeId`). */
  executionModeId(fn: Id, mode: number, ...operands: readonly Id[]): void {
    this.modes.instruction(Op.OpExecutionModeId, [fn, mode, ...operands]);
  }

  /** The id of an OpString, one for each text. */
  string(text: string): Id {
    let id = this.strings.get(text);
    if (id === undefined) {
      id = this.id();
      this.strings.set(text, id);
      this.stringWords.text(Op.OpString, id, -1, text);
    }
    return id;
  }

  /** OpSource; a text that is too long for one instruction continues in OpSourceContinued. */
  source(language: number, version: number, file?: Id, text?: string): void {
    const { sourceWords } = this;
    if (file === undefined || text === undefined) {
      sourceWords.start(Op.OpSource, file === undefined ? 3 : 4);
      sourceWords.push(language);
      sourceWords.push(version);
      if (file !== undefined) sourceWords.push(file);
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
    this.variables.push({ id, storageClass });
    return id;
  }

  /** Starts a function; `id` where it was handed out before (a call ahead of the definition). */
  beginFunction(returns: Id, type: Id, control = 0, id: Id = this.id()): Id {
    invariant(this.current === undefined, "function inside a function");
    this.current = { head: new WordBuffer(), locals: new WordBuffer(), body: new WordBuffer() };
    const { head } = this.current;
    head.start(Op.OpFunction, 5);
    head.push(returns);
    head.push(id);
    head.push(control);
    head.push(type);
    this.hasBlock = false;
    this.dropLine();
    return id;
  }

  parameter(type: Id): Id {
    const { head } = this.openFunction();
    const id = this.id();
    head.start(Op.OpFunctionParameter, 3);
    head.push(type);
    head.push(id);
    return id;
  }

  /** Starts a block. The block before must have its terminator. */
  label(id: Id = this.id()): Id {
    const parts = this.openFunction();
    invariant(!this.openBlock, "label inside an open block");
    const words = this.hasBlock ? parts.body : parts.head;
    words.start(Op.OpLabel, 2);
    words.push(id);
    this.hasBlock = true;
    this.openBlock = true;
    this.hasWritten = false;
    return id;
  }

  /** True between a label and its terminator. */
  get inBlock(): boolean {
    return this.openBlock;
  }

  /** A variable of storage class Function; it goes to the start of the first block wherever it is asked for. */
  localVariable(pointer: Id, initializer?: Id): Id {
    const id = this.id();
    variable(this.openFunction().locals, pointer, id, StorageClass.Function, initializer);
    return id;
  }

  /** Later instructions come from this place (line and column count from 1); written only where it changes. */
  line(file: Id, line: number, column: number): void {
    this.hasWanted = true;
    this.wantedFile = file;
    this.wantedLine = line;
    this.wantedColumn = column;
  }

  noLine(): void {
    this.hasWanted = false;
  }

  /**
   * An instruction without result in the open block; a terminator closes the block. Operands one by one need no list,
   * which is what most instructions are made of.
   */
  emit(opcode: number, a?: number, b?: number, c?: number, d?: number, e?: number): void {
    const count = a === undefined ? 1 : b === undefined ? 2 : c === undefined ? 3 : d === undefined ? 4 : 5;
    const body = this.startInstruction(opcode, e === undefined ? count : 6);
    if (a !== undefined) body.push(a);
    if (b !== undefined) body.push(b);
    if (c !== undefined) body.push(c);
    if (d !== undefined) body.push(d);
    if (e !== undefined) body.push(e);
    if (isTerminator[opcode] === 1) this.closeBlock();
  }

  /** As `emit` for any number of operands. */
  emitWords(opcode: number, operands: readonly number[]): void {
    const body = this.startInstruction(opcode, operands.length + 1);
    for (let at = 0; at < operands.length; at++) body.push(operands[at]!);
    if (isTerminator[opcode] === 1) this.closeBlock();
  }

  private closeBlock(): void {
    this.openBlock = false;
    this.hasWritten = false;
  }

  /** An instruction with result type and result; the operands follow the result. */
  emitResult(opcode: number, type: Id, a?: number, b?: number, c?: number, d?: number, e?: number, f?: number): Id {
    const id = this.id();
    let count = a === undefined ? 3 : b === undefined ? 4 : c === undefined ? 5 : d === undefined ? 6 : 7;
    if (e !== undefined) count = f === undefined ? 8 : 9;
    const body = this.startInstruction(opcode, count);
    body.push(type);
    body.push(id);
    if (a !== undefined) body.push(a);
    if (b !== undefined) body.push(b);
    if (c !== undefined) body.push(c);
    if (d !== undefined) body.push(d);
    if (e !== undefined) body.push(e);
    if (f !== undefined) body.push(f);
    return id;
  }

  /** A pointer `indices` further than `base`, and one index more where there is one. */
  accessChain(pointer: Id, base: Id, indices: readonly Id[], last?: Id): Id {
    const id = this.id();
    const count = indices.length;
    const body = this.startInstruction(Op.OpAccessChain, count + (last === undefined ? 4 : 5));
    body.push(pointer);
    body.push(id);
    body.push(base);
    for (let at = 0; at < count; at++) body.push(indices[at]!);
    if (last !== undefined) body.push(last);
    return id;
  }

  /** As `emitResult` for any number of operands. */
  emitResultWords(opcode: number, type: Id, operands: readonly number[]): Id {
    const id = this.id();
    const body = this.startInstruction(opcode, operands.length + 3);
    body.push(type);
    body.push(id);
    for (let at = 0; at < operands.length; at++) body.push(operands[at]!);
    return id;
  }

  private startInstruction(opcode: number, count: number): WordBuffer {
    const { body } = this.openFunction();
    // the message is made only where it is needed: this is the busiest place of all
    if (!this.openBlock) throw new Bug(`${instructionRow(opcode)?.name} outside a block`);
    this.flushLine(body);
    body.start(opcode, count);
    this.afterMerge = opcode === Op.OpSelectionMerge || opcode === Op.OpLoopMerge;
    return body;
  }

  /** A `GLSL.std.450` instruction. */
  extInst(type: Id, instruction: number, operands: readonly Id[]): Id {
    if (this.standardSet === 0) this.standardSet = this.extInstImport("GLSL.std.450");
    const id = this.id();
    const body = this.startInstruction(Op.OpExtInst, operands.length + 5);
    body.push(type);
    body.push(id);
    body.push(this.standardSet);
    body.push(instruction);
    for (let at = 0; at < operands.length; at++) body.push(operands[at]!);
    return id;
  }

  endFunction(): void {
    const parts = this.openFunction();
    invariant(!this.openBlock, "function ends inside an open block");
    parts.body.start(Op.OpFunctionEnd, 1);
    this.functions.push(parts);
    this.current = undefined;
  }

  /** The whole module, sections in the specification's order. The builder is used up by it. */
  finish(): Uint32Array {
    invariant(this.current === undefined, "module ends inside a function");
    const head = new WordBuffer();
    head.push(magicNumber);
    head.push(this.version);
    head.push(0);
    head.push(this.bound);
    head.push(0);
    for (const capability of this.capabilities) {
      head.start(Op.OpCapability, 2);
      head.push(capability);
    }
    for (const name of this.extensions) head.text(Op.OpExtension, -1, -1, name);
    const model = new WordBuffer();
    model.instruction(Op.OpMemoryModel, [this.addressing, this.memory]);
    for (const entry of this.entries) {
      const at = model.length;
      model.text(Op.OpEntryPoint, entry.model, entry.fn, entry.name);
      if (entry.interface === undefined) this.defaultInterface(model);
      else for (const id of entry.interface) model.push(id);
      model.stretch(at);
    }
    const sections = [
      head,
      this.importWords,
      model,
      this.modes,
      this.stringWords,
      this.sourceWords,
      this.names,
      this.annotations,
      this.globals,
    ];
    for (const { head: first, locals, body } of this.functions) sections.push(first, locals, body);
    let length = 0;
    for (const section of sections) length += section.length;
    const words = new Uint32Array(length);
    let at = 0;
    for (const section of sections) {
      at = section.copyTo(words, at);
      section.release();
    }
    this.releaseTable();
    return words;
  }

  private defaultInterface(words: WordBuffer): void {
    for (const { id, storageClass } of this.variables) {
      const inOut = storageClass === StorageClass.Input || storageClass === StorageClass.Output;
      if (inOut || this.version >= 0x10400) words.push(id);
    }
  }

  private openFunction(): FunctionParts {
    const { current } = this;
    if (current === undefined) throw new Bug("no open function");
    return current;
  }

  private dropLine(): void {
    this.hasWanted = false;
    this.hasWritten = false;
  }

  private flushLine(body: WordBuffer): void {
    // a merge and its branch are neighbours: no line between them
    if (this.afterMerge) return;
    if (!this.hasWanted) {
      if (this.hasWritten) body.start(Op.OpNoLine, 1);
      this.hasWritten = false;
      return;
    }
    const { wantedFile, wantedLine, wantedColumn } = this;
    const same = wantedLine === this.writtenLine && wantedColumn === this.writtenColumn;
    if (this.hasWritten && same && wantedFile === this.writtenFile) return;
    body.start(Op.OpLine, 4);
    body.push(wantedFile);
    body.push(wantedLine);
    body.push(wantedColumn);
    this.hasWritten = true;
    this.writtenFile = wantedFile;
    this.writtenLine = wantedLine;
    this.writtenColumn = wantedColumn;
  }
}

function variable(words: WordBuffer, pointer: Id, id: Id, storageClass: number, initializer: Id | undefined): void {
  words.start(Op.OpVariable, initializer === undefined ? 4 : 5);
  words.push(pointer);
  words.push(id);
  words.push(storageClass);
  if (initializer !== undefined) words.push(initializer);
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
