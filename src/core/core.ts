import { Bug, clockUs, takeWords } from "../base/index.ts";
import type { UserDataEntry } from "../codeobj/index.ts";
import { decodeSnapshot, encodeSnapshot, parseIr, passNumbers, passRows, phaseRows, printIr } from "../ir/index.ts";
import { describeFailure, isBug } from "./failures.ts";
import { CoreInstance, loadCoreModule, type Session } from "./instance.ts";
import type { Core, CoreFailure, CoreOutput, CorePassReport, CoreRequest, CoreResult } from "./interface.ts";
import { linkFactsOf } from "./link-facts.ts";

export interface CoreOptions {
  /** The checked build, validating the IR after each pass. */
  readonly checked?: boolean;
  /** A compiled module of the same build, so that workers share it. */
  readonly module?: WebAssembly.Module;
  /** Names of SPIR-V opcodes for messages. */
  readonly opName?: (opcode: number) => string;
}

export type IrResult =
  | { readonly ok: true; readonly ir: string }
  | { readonly ok: false; readonly failures: readonly CoreFailure[] };

/** A core with the doors that tests and dumps use. */
export interface CoreTools extends Core {
  /** Of the checked build alone: `without` names a pass to leave out, so that a test can show what it is there for. */
  compile(request: CoreRequest, without?: string): CoreResult;
  /** Words to the IR that the back end would get, as text. */
  lower(request: CoreRequest, without?: string): IrResult;
  /** IR text through one pass by name (`"none"`: only read and validated), as text. */
  runPass(text: string, pass: string, request?: Partial<CoreRequest>): IrResult;
  /** IR text to code, with the request's bindings and robustness. */
  emit(text: string, request?: Partial<CoreRequest>): CoreResult;
}

const emptyRequest: CoreRequest = {
  words: new Uint32Array(),
  stage: "compute",
  entryPoint: "main",
  specialization: [],
  bindings: [],
  optimization: 2,
  contraction: true,
  robust: true,
};

/** Header words of the output block: `writeResult` in `assembly/compiler/index.ts`. */
const headerWords = 38;

const drawKinds = ["vertexBuffers", "baseVertex", "drawIndex", "startInstance"] as const;
/** Bit of the header's draw word by `drawKinds`. */
const drawBits = [3, 0, 1, 2] as const;

/** What stands in the user SGPRs: `at` is the header of the output block in `words`. */
function userData(words: Uint32Array, at: number): UserDataEntry[] {
  const entries: UserDataEntry[] = [{ kind: "ringPointer", sgpr: 0, count: 2 }];
  const sets = words[at + 15]!;
  let sgpr = 2;
  for (let set = 0; set < 32 && sets >>> set !== 0; set++) {
    if ((sets >>> set) & 1) entries.push({ kind: "descriptorSet", sgpr: sgpr++, count: 1, set });
  }
  if (words[at + 17] !== 0) {
    entries.push({ kind: "pushConstantPointer", sgpr: words[at + 16]!, count: 1 });
  } else if (words[at + 18] !== 0 || words[at + 19] !== 0) {
    const offsets = bitsOf(words, at + 18, 2);
    for (let k = 0; k < offsets.length; k++) offsets[k]! *= 4;
    entries.push({ kind: "inlinePushConstants", sgpr: words[at + 16]!, count: offsets.length, offsets });
  }
  const draws = words[at + 22]!;
  if (draws !== 0) {
    let draw = words[at + 23]!;
    for (let k = 0; k < drawKinds.length; k++) {
      if ((draws >>> drawBits[k]!) & 1) entries.push({ kind: drawKinds[k]!, sgpr: draw++, count: 1 });
    }
  }
  if (words[at + 20] !== 0xffffffff) entries.push({ kind: "workgroupCounts", sgpr: words[at + 20]!, count: 3 });
  return entries;
}

/** Numbers of the bits that are set in the `count` words from `from` on. */
function bitsOf(words: Uint32Array, from: number, count: number): number[] {
  const bits: number[] = [];
  for (let w = 0; w < count; w++) {
    for (let word = words[from + w]!; word !== 0; word &= word - 1) bits.push(32 * w + 31 - Math.clz32(word & -word));
  }
  return bits;
}

const noWords = new Uint32Array();
/** Words of their own: what the block holds is gone with the next compile. */
function copyOf(words: Uint32Array, from: number, count: number): Uint32Array {
  if (count === 0) return noWords;
  const copy = takeWords(count);
  copy.set(words.subarray(from, from + count));
  return copy;
}

/** The output of a compile from its block, which begins at word `at` of the memory. */
function readOutput(words: Uint32Array, at: number, passes: readonly CorePassReport[]): CoreOutput {
  if (words[at] !== 1) throw new Bug("core: output block of another version");
  const codeAt = at + headerWords;
  const codeEnd = codeAt + words[at + 1]!;
  const lineWords = 4 * words[at + 36]!;
  const components = words[at + 9]!;
  const groups = words[at + 8]!;
  return {
    code: copyOf(words, codeAt, words[at + 1]!),
    sgprs: words[at + 2]!,
    vgprs: words[at + 3]!,
    spilledSgprs: words[at + 11]!,
    spilledVgprs: words[at + 12]!,
    ldsBytes: words[at + 4]!,
    scratchBytes: words[at + 13]!,
    workgroupSize: [words[at + 5]!, words[at + 6]!, words[at + 7]!],
    userData: userData(words, at),
    usesWorkgroupId: [(groups & 1) !== 0, (groups & 2) !== 0, (groups & 4) !== 0],
    threadIdComponents: components >= 2 ? 2 : components === 1 ? 1 : 0,
    contractions: words[at + 10]!,
    interface: {
      stageInputs: words[at + 21]!,
      locations: bitsOf(words, at + 24, 4),
      flat: bitsOf(words, at + 28, 4),
      vertexOutputs: words[at + 32]!,
      colorFormats: words[at + 33]!,
      depthFormat: words[at + 34]!,
      demotes: (words[at + 35]! & 1) !== 0,
      writesMemory: (words[at + 35]! & 2) !== 0,
    },
    lines: copyOf(words, codeEnd, lineWords),
    table: copyOf(words, codeEnd + lineWords, words[at + 37]!),
    passes,
  };
}

/**
 * Makes a core. Loads `dist/wasm/compiler.*.wasm` unless a module is given. Its own invariants that break, and traps,
 * throw `Bug`; everything that the input can cause is a failure in the result.
 */
export async function createCore(options: CoreOptions = {}): Promise<CoreTools> {
  const checked = options.checked ?? false;
  const instance = new CoreInstance(options.module ?? (await loadCoreModule(checked)));
  const opName = options.opName ?? ((opcode: number) => `SPIR-V opcode ${opcode}`);
  const quiet: Session = { validate: checked, passed: () => undefined };

  const numberOf = (pass: string): number => {
    const number = passNumbers.get(pass);
    if (number === undefined) throw new Bug(`no pass ${pass}`);
    return number;
  };
  const quietWithout = (pass: string | undefined): Session => {
    if (pass === undefined) return quiet;
    if (!checked) throw new Bug("core: no build but the checked one leaves out a pass");
    return { ...quiet, without: numberOf(pass) };
  };
  const failed = (raw: readonly number[], request: CoreRequest) => {
    const [code = 0, a = 0, b = 0, c = 0, fileId = 0, line = 0, column = 0] = raw;
    const failure = describeFailure({ code, a, b, c, fileId, line, column }, request, opName);
    if (isBug(failure)) throw new Bug(`core: ${failure.message}`);
    return { ok: false, failures: [failure] } as const;
  };
  const read = (passes: readonly CorePassReport[]): CoreOutput =>
    readOutput(instance.memory, instance.outputAt, passes);
  const text = (): string => printIr(decodeSnapshot(instance.snapshot()));

  return {
    checked,
    compile(request, without) {
      const wanted = request.dumpAfter;
      if (wanted === undefined) {
        const raw = instance.run("compile", request, quietWithout(without));
        return raw === undefined ? { ok: true, output: read([]) } : failed(raw, request);
      }
      const passes: CorePassReport[] = [];
      const dumps = wanted.length > 0;
      const all = wanted.includes("all");
      let ir = "";
      let since = clockUs();
      const report = (name: string): void => {
        const row = {
          name,
          microseconds: clockUs() - since,
          instructions: instance.instructionCount(),
          machine: false,
        };
        if (dumps) ir = text();
        passes.push(all || wanted.includes(name) ? { ...row, ir } : row);
        since = clockUs();
      };
      const passed = (pass: number): void => report(passRows[pass - 1]?.name ?? `pass ${pass}`);
      const phased = (phase: number, instructions: number): void => {
        const name = phaseRows[phase]?.name ?? `phase ${phase}`;
        passes.push({ name, microseconds: clockUs() - since, instructions, machine: true });
        since = clockUs();
      };
      const raw = instance.run("compile", request, { ...quietWithout(without), passed, phased });
      if (raw !== undefined) return failed(raw, request);
      const output = read(passes);
      return { ok: true, output: dumps ? { ...output, ir } : output };
    },
    linkFacts(request) {
      const raw = instance.run("lower", request, quiet);
      return raw === undefined
        ? { ok: true, facts: linkFactsOf(decodeSnapshot(instance.snapshot())) }
        : failed(raw, request);
    },
    lower(request, without) {
      const raw = instance.run("lower", request, quietWithout(without));
      return raw === undefined ? { ok: true, ir: text() } : failed(raw, request);
    },
    runPass(source, pass, request = {}) {
      const number = pass === "none" ? 0 : numberOf(pass);
      const whole = { ...emptyRequest, ...request };
      const raw = instance.runSnapshot(encodeSnapshot(parseIr(source)), number, whole, quiet);
      return raw === undefined ? { ok: true, ir: text() } : failed(raw, whole);
    },
    emit(source, request = {}) {
      const whole = { ...emptyRequest, ...request };
      const raw = instance.runSnapshot(encodeSnapshot(parseIr(source)), -1, whole, quiet);
      return raw === undefined ? { ok: true, output: read([]) } : failed(raw, whole);
    },
  };
}
