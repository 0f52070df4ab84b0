import { Bug, clockUs } from "../base/index.ts";
import type { UserDataEntry } from "../codeobj/index.ts";
import { decodeSnapshot, encodeSnapshot, parseIr, passNumbers, passRows, printIr } from "../ir/index.ts";
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
  /** Words to the IR that the back end would get, as text. */
  lower(request: CoreRequest): IrResult;
  /** IR text through one pass by name (`"none"`: only read and validated), as text. */
  runPass(text: string, pass: string): IrResult;
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

function userData(words: Uint32Array): UserDataEntry[] {
  const at = (i: number): number => words[i] ?? 0;
  const entries: UserDataEntry[] = [{ kind: "ringPointer", sgpr: 0, count: 2 }];
  let sgpr = 2;
  for (let set = 0; set < 32 && at(15) >>> set !== 0; set++) {
    if ((at(15) >>> set) & 1) entries.push({ kind: "descriptorSet", sgpr: sgpr++, count: 1, set });
  }
  const inlined: number[] = [];
  if (at(18) !== 0 || at(19) !== 0) {
    for (let dword = 0; dword < 64; dword++) if ((at(18 + (dword >> 5)) >>> (dword & 31)) & 1) inlined.push(4 * dword);
  }
  if (at(17) !== 0) entries.push({ kind: "pushConstantPointer", sgpr: at(16), count: 1 });
  else if (inlined.length > 0) {
    entries.push({ kind: "inlinePushConstants", sgpr: at(16), count: inlined.length, offsets: inlined });
  }
  let draw = at(23);
  if (at(22) !== 0) {
    for (const [k, kind] of drawKinds.entries()) {
      if ((at(22) >>> (k === 0 ? 3 : k - 1)) & 1) entries.push({ kind, sgpr: draw++, count: 1 });
    }
  }
  if (at(20) !== 0xffffffff) entries.push({ kind: "workgroupCounts", sgpr: at(20), count: 3 });
  return entries;
}

/** Numbers of the bits that are set in the four words from `from` on. */
function bitsOf(words: Uint32Array, from: number): number[] {
  const bits: number[] = [];
  for (let w = 0; w < 4; w++) {
    for (let word = words[from + w] ?? 0; word !== 0; word &= word - 1)
      bits.push(32 * w + 31 - Math.clz32(word & -word));
  }
  return bits;
}

function readOutput(words: Uint32Array, passes: readonly CorePassReport[]): CoreOutput {
  const at = (i: number): number => words[i] ?? 0;
  if (at(0) !== 1) throw new Bug("core: output block of another version");
  const codeEnd = headerWords + at(1);
  const code = words.subarray(headerWords, codeEnd);
  const components = at(9);
  return {
    code,
    sgprs: at(2),
    vgprs: at(3),
    spilledSgprs: at(11),
    spilledVgprs: at(12),
    ldsBytes: at(4),
    scratchBytes: at(13),
    workgroupSize: [at(5), at(6), at(7)],
    userData: userData(words),
    usesWorkgroupId: [(at(8) & 1) !== 0, (at(8) & 2) !== 0, (at(8) & 4) !== 0],
    threadIdComponents: components >= 2 ? 2 : components === 1 ? 1 : 0,
    contractions: at(10),
    interface: {
      stageInputs: at(21),
      locations: bitsOf(words, 24),
      flat: bitsOf(words, 28),
      vertexOutputs: at(32),
      colorFormats: at(33),
      depthFormat: at(34),
      demotes: at(35) !== 0,
    },
    lines: words.subarray(codeEnd, codeEnd + 4 * at(36)),
    table: words.subarray(codeEnd + 4 * at(36), codeEnd + 4 * at(36) + at(37)),
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

  const failed = (raw: readonly number[], request: CoreRequest) => {
    const [code = 0, a = 0, b = 0, c = 0, fileId = 0, line = 0, column = 0] = raw;
    const failure = describeFailure({ code, a, b, c, fileId, line, column }, request, opName);
    if (isBug(failure)) throw new Bug(`core: ${failure.message}`);
    return { ok: false, failures: [failure] } as const;
  };
  const text = (): string => printIr(decodeSnapshot(instance.snapshot()));

  return {
    checked,
    compile(request) {
      const passes: CorePassReport[] = [];
      const wanted = request.dumpAfter;
      const dumps = wanted !== undefined && wanted.length > 0;
      const all = wanted?.includes("all") ?? false;
      let ir = "";
      let since = clockUs();
      const report = (name: string): void => {
        const row = {
          name,
          microseconds: clockUs() - since,
          instructions: instance.instructionCount(),
        };
        if (dumps) ir = text();
        passes.push(all || wanted?.includes(name) ? { ...row, ir } : row);
        since = clockUs();
      };
      const passed = (pass: number): void => report(passRows[pass - 1]?.name ?? `pass ${pass}`);
      const raw = instance.run("compile", request, {
        validate: checked,
        passed: wanted === undefined ? quiet.passed : passed,
      });
      if (raw !== undefined) return failed(raw, request);
      if (wanted !== undefined) {
        const microseconds = clockUs() - since;
        passes.push({ name: "emit", microseconds, instructions: instance.instructionCount() });
      }
      const output = readOutput(instance.output(), passes);
      return { ok: true, output: dumps ? { ...output, ir } : output };
    },
    linkFacts(request) {
      const raw = instance.run("lower", request, quiet);
      return raw === undefined
        ? { ok: true, facts: linkFactsOf(decodeSnapshot(instance.snapshot())) }
        : failed(raw, request);
    },
    lower(request) {
      const raw = instance.run("lower", request, quiet);
      return raw === undefined ? { ok: true, ir: text() } : failed(raw, request);
    },
    runPass(source, pass) {
      const number = pass === "none" ? 0 : passNumbers.get(pass);
      if (number === undefined) throw new Bug(`no pass ${pass}`);
      const raw = instance.runSnapshot(encodeSnapshot(parseIr(source)), number, emptyRequest, quiet);
      return raw === undefined ? { ok: true, ir: text() } : failed(raw, emptyRequest);
    },
    emit(source, request = {}) {
      const whole = { ...emptyRequest, ...request };
      const raw = instance.runSnapshot(encodeSnapshot(parseIr(source)), -1, whole, quiet);
      return raw === undefined ? { ok: true, output: readOutput(instance.output(), []) } : failed(raw, whole);
    },
  };
}
