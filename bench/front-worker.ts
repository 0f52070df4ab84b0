/**
 * The measuring half of `front.ts`: the front end in a worker thread, which is where the product runs it, with whatever
 * limits its starter gave it. Bundled by `front.ts`, so that what is timed is what ships.
 */
import { parentPort, workerData } from "node:worker_threads";
import { compileGlsl, runPhases, type Shader } from "./front-phases.ts";

export interface FrontTask {
  readonly shaders: readonly Shader[];
  readonly rounds: number;
}

/** Times over all files that a round of `whole` goes: enough for the collector to have its share of each round. */
const PASSES = 4;

/** Milliseconds: of the fastest round by CPU time, of each file's fastest run, of each phase summed over the files' fastest. */
export interface FrontTimes {
  readonly whole: number;
  readonly each: Float64Array;
  readonly phases: Float64Array;
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function measure({ shaders, rounds }: FrontTask): FrontTimes {
  const compile = ({ name, stage, source }: Shader) =>
    compileGlsl({ source, filename: name, stage, targetEnv: "vulkan1.2" });
  let whole = Number.POSITIVE_INFINITY;
  /** Four of each file: its fastest times. */
  const fastest = new Float64Array(4 * shaders.length).fill(Number.POSITIVE_INFINITY);
  const once = new Float64Array(4);
  const wall = (): number => performance.now();
  const each = new Float64Array(shaders.length).fill(Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    const start = cpuMs();
    for (let pass = 0; pass < PASSES; pass++) for (const shader of shaders) compile(shader);
    whole = Math.min(whole, (cpuMs() - start) / PASSES);
    for (let at = 0; at < shaders.length; at++) {
      const begun = wall();
      compile(shaders[at]!);
      each[at] = Math.min(each[at]!, wall() - begun);
    }
    // switches between processes hit a phase at random: its fastest run is one without
    for (let at = 0; at < shaders.length; at++) {
      runPhases([shaders[at]!], wall, once.fill(0));
      for (let phase = 0; phase < 4; phase++) {
        fastest[4 * at + phase] = Math.min(fastest[4 * at + phase]!, once[phase]!);
      }
    }
  }
  const phases = new Float64Array(4);
  for (let at = 0; at < fastest.length; at++) phases[at % 4]! += fastest[at]!;
  return { whole, each, phases };
}

parentPort?.postMessage(measure(workerData as FrontTask));
