import { readFileSync } from "node:fs";
import { Bug, distFile } from "../base/index.ts";
import type { CoreLink, CorePipeline, CoreRequest } from "./interface.ts";

/** Exports of compiler.wasm (`assembly/compiler/index.ts`). */
interface CoreExports {
  address(which: number): number;
  failure(which: number): number;
  compile(): number;
  lower(): number;
  emitSnapshot(): number;
  passSnapshot(pass: number): number;
  snapshot(): number;
  instructionCount(): number;
}

const utf8 = new TextEncoder();
/** SPIR-V execution models. */
const models = { vertex: 0, fragment: 4, compute: 5 } as const;
/**
 * `BACKEND_END` of `assembly/compiler/memory-map.ts`. Shared, though one thread uses it: of memory that is not, V8 takes
 * the whole size for garbage that a collection may free, and a process that compiles one shader collects twice for it.
 */
export const memoryPages = 0x2400;
const ioVersion = 1;
const maxWords = 4 << 20;
const maxRows = 8192;
const maxNameBytes = 1023;
const vertexColumns = 7;
/** `LINK`, `LINK_WORDS` and `Link` of `assembly/compiler/io.ts`. */
const linkAt = 256;
const linkBits = 9 * 32;
const link = { drops: 0, kept: 1, known: 10, values: 19 } as const;
/** `ColorExport.BY_TYPE`. */
const exportByType = 15;
/** Work units (one: about one instruction visited) a millisecond; 10 million were measured on a slow machine. */
const unitsPerMillisecond = 10_000;
const defaultTimeMs = 20_000;

/** Options of the core that are not part of a request. */
export interface Session {
  readonly validate: boolean;
  /** Number of a pass that the checked build leaves out. */
  readonly without?: number;
  /** After each pass: number, whether it changed anything. */
  passed(pass: number, changed: boolean): void;
  /** After each phase of the back end: number, machine instructions. Absent: it is not asked for. */
  phased?(phase: number, instructions: number): void;
}

/** Reads and compiles `dist/wasm/compiler.<target>.wasm`. */
export async function loadCoreModule(checked: boolean): Promise<WebAssembly.Module> {
  return WebAssembly.compile(readFileSync(distFile(`wasm/compiler.${checked ? "checked" : "release"}.wasm`)));
}

/** One instance of the module with its memory: marshalling only. After a trap it refuses to go on. */
export class CoreInstance {
  readonly #exports: CoreExports;
  readonly #words: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #blocks: readonly number[];
  #session: Session = { validate: false, passed: () => undefined };
  #broken = false;
  /** The block of the pipeline state says that there is none. */
  #pipelineIsEmpty = false;
  /** As written for a stage that stands alone. */
  #linkIsEmpty = false;

  constructor(module: WebAssembly.Module) {
    const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
    const env = {
      memory,
      abort: (message: number, file: number, line: number, column: number) => {
        const text = (at: number): string => (at === 0 ? "" : assemblyString(memory.buffer, at));
        throw new Bug(`core: assertion failed at ${text(file)}:${line}:${column} ${text(message)}`);
      },
    };
    const host = {
      passed: (pass: number, changed: number) => this.#session.passed(pass, changed !== 0),
      phased: (phase: number, instructions: number) => this.#session.phased?.(phase, instructions),
    };
    const instance = new WebAssembly.Instance(module, { env, host });
    this.#exports = instance.exports as unknown as CoreExports;
    this.#words = new Uint32Array(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer);
    this.#blocks = [0, 1, 2, 3, 4, 5, 6].map((which) => this.#exports.address(which) >>> 2);
  }

  /** Word index of a shared block. */
  #at(which: number): number {
    return this.#blocks[which]!;
  }

  /** Runs `call`, which starts from nothing. A trap makes this instance useless and throws `Bug`. */
  #run(session: Session, call: () => number): number {
    if (this.#broken) throw new Bug("core: this instance has trapped before");
    this.#session = session;
    try {
      return call();
    } catch (error) {
      this.#broken = true;
      throw error instanceof Bug ? error : new Bug(`core: ${String(error)}`);
    }
  }

  /** Writes a request's tables. Undefined, or what it has too much of (a `Limit` number). */
  #write(request: CoreRequest, { validate, without, phased }: Session): number | undefined {
    const { words } = request;
    const memory = this.#words;
    const nameBytes = this.#writeName(request.entryPoint);
    if (words.length > maxWords || nameBytes > maxNameBytes) return 1;
    if (request.bindings.length > maxRows || request.specialization.length > maxRows) return 5;
    const model = models[request.stage];
    const flags = (request.contraction ? 1 : 0) | (request.robust ? 2 : 0) | (validate ? 4 : 0) | (phased ? 8 : 0);
    const timeMs = request.limits?.timeMs ?? defaultTimeMs;
    const at = this.#at(0);
    memory[at] = ioVersion;
    memory[at + 1] = model;
    memory[at + 2] = nameBytes;
    memory[at + 3] = request.optimization;
    memory[at + 4] = flags;
    memory[at + 5] = Math.min(Math.max(1, Math.ceil((timeMs * unitsPerMillisecond) / 1e6)), 0x7fffffff);
    memory[at + 6] = request.specialization.length;
    memory[at + 7] = request.bindings.length;
    memory[at + 8] = words.length;
    memory[at + 9] = without ?? 0;
    this.#writePipeline(request.pipeline);
    this.#writeLink(request.link);
    let row = this.#at(2);
    for (const b of request.bindings) {
      memory[row++] = b.set;
      memory[row++] = b.binding;
      memory[row++] = b.offsetBytes;
      memory[row++] = b.strideBytes;
      memory[row++] = b.count;
    }
    row = this.#at(3);
    for (const s of request.specialization) {
      memory[row++] = s.id;
      memory[row++] = Number(s.bits & 0xffffffffn);
      memory[row++] = Number(s.bits >> 32n);
    }
    memory.set(words, this.#at(4));
    return undefined;
  }

  /** The entry point's name as UTF-8 in its block; its bytes, one more than there may be when it is too long. */
  #writeName(name: string): number {
    const start = 4 * this.#at(1);
    // Most names are a few letters.
    for (let k = 0; k < name.length && k < maxNameBytes; k++) {
      const unit = name.charCodeAt(k);
      if (unit >= 0x80) {
        const bytes = utf8.encode(name);
        if (bytes.length <= maxNameBytes) this.#bytes.set(bytes, start);
        return Math.min(bytes.length, maxNameBytes + 1);
      }
      this.#bytes[start + k] = unit;
    }
    return Math.min(name.length, maxNameBytes + 1);
  }

  /** Layout: `Pipeline`, `VertexColumn` of `assembly/compiler/io.ts`. */
  #writePipeline(pipeline: CorePipeline | undefined): void {
    const at = this.#at(6);
    const words = this.#words;
    // Without state the block stays as it was written for the last request without.
    const isEmpty = pipeline === undefined || (pipeline.colorExports.length | pipeline.vertexAttributes.length) === 0;
    if (isEmpty && this.#pipelineIsEmpty) return;
    this.#pipelineIsEmpty = isEmpty;
    words.fill(0, at, at + 16 + 32 * vertexColumns);
    for (let location = 0; location < 8; location++) {
      words[at + location] = pipeline?.colorExports[location] ?? exportByType;
    }
    for (const a of pipeline?.vertexAttributes ?? []) {
      if (a.location >= 32) continue;
      const row = [a.format, a.components, a.binding, a.offset, a.divisor === undefined ? 0 : 1, a.divisor ?? 0];
      words.set([...row, a.swapped ? 1 : 0], at + 16 + a.location * vertexColumns);
    }
  }

  #writeLink(given: CoreLink | undefined): void {
    const at = this.#at(6) + linkAt;
    const words = this.#words;
    if (given === undefined && this.#linkIsEmpty) return;
    this.#linkIsEmpty = given === undefined;
    words.fill(0, at, at + link.values);
    const set = (from: number, scalar: number): void => {
      if (scalar < linkBits) words[at + from + (scalar >>> 5)]! |= 1 << (scalar & 31);
    };
    if (given?.read !== undefined) {
      words[at + link.drops] = 1;
      for (const scalar of given.read) set(link.kept, scalar);
    }
    for (const { scalar, bits } of given?.known ?? []) {
      set(link.known, scalar);
      if (scalar < linkBits) words[at + link.values + scalar] = bits;
    }
  }

  /** `compile` or `lower` of a request: the failure's numbers, or undefined when it went well. */
  run(what: "compile" | "lower", request: CoreRequest, session: Session): readonly number[] | undefined {
    const over = this.#write(request, session);
    if (over !== undefined) return [4, over, over === 1 ? maxWords : maxRows, 0, 0, 0, 0];
    return this.#run(session, () => this.#exports[what]()) === 0 ? undefined : this.#failure();
  }

  /** Runs a snapshot through a pass (0: none), or to code (-1). */
  runSnapshot(words: Uint32Array, pass: number, request: CoreRequest, session: Session): readonly number[] | undefined {
    const over = this.#write({ ...request, words }, session);
    if (over !== undefined) return [4, over, maxWords, 0, 0, 0, 0];
    const call = pass < 0 ? () => this.#exports.emitSnapshot() : () => this.#exports.passSnapshot(pass);
    return this.#run(session, call) === 0 ? undefined : this.#failure();
  }

  #failure(): number[] {
    return Array.from({ length: 7 }, (_, i) => this.#exports.failure(i) >>> 0);
  }

  /** All of the memory, and where in it the output block begins. */
  get memory(): Uint32Array {
    return this.#words;
  }
  get outputAt(): number {
    return this.#at(5);
  }

  /** A snapshot of the current IR; also inside `passed`. */
  snapshot(): Uint32Array {
    const count = this.#exports.snapshot();
    return this.#words.slice(this.#at(5), this.#at(5) + count);
  }

  instructionCount(): number {
    return this.#exports.instructionCount();
  }
}

/** A string constant of AssemblyScript: UTF-16, its size in bytes in the word before it. */
function assemblyString(buffer: ArrayBuffer, at: number): string {
  const bytes = new DataView(buffer).getUint32(at - 4, true);
  return new TextDecoder("utf-16le").decode(new Uint8Array(buffer, at, Math.min(bytes, 1000)));
}
