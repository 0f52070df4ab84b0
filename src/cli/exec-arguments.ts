import { readFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import type { MachineOptions } from "../service/index.ts";
import { CliError } from "./environment.ts";

const usage = (text: string) => new CliError(2, text);

/** A binding by set and number; `0=…` is set 0. */
export interface BindingName {
  readonly set: number;
  readonly binding: number;
}

export interface Bind extends BindingName {
  readonly bytes: Uint8Array;
}

export interface Out extends BindingName {
  readonly file: string;
}

function split(flag: string, text: string): BindingName & { readonly value: string } {
  const match = /^(?:(\d+)\.)?(\d+)=(.+)$/.exec(text);
  if (match === null) throw usage(`${flag} ${text}: expected BINDING=… or SET.BINDING=…`);
  return { set: Number(match[1] ?? 0), binding: Number(match[2]), value: match[3] as string };
}

/** `0=in.bin`, `1=zero:4096`. */
export function parseBind(text: string): Bind {
  const { set, binding, value } = split("--bind", text);
  const zero = /^zero:(.*)$/.exec(value);
  if (zero === null) {
    try {
      return { set, binding, bytes: readFileSync(value) };
    } catch (error) {
      throw new CliError(1, `${value}: ${fileProblem(error)}`);
    }
  }
  const count = zero[1] ?? "";
  const size = Number(count);
  if (!/^\d+$/.test(count) || size === 0) {
    throw usage(`--bind ${text}: expected zero:N with N a number of bytes above 0 (a file of this name: ./${value})`);
  }
  if (size > 2 ** 30) throw usage(`--bind ${text}: at most 1 GiB`);
  return { set, binding, bytes: new Uint8Array(size) };
}

export function parseOut(text: string): Out {
  const { set, binding, value } = split("--out", text);
  return { set, binding, file: value };
}

const maxPushBytes = 256;

/** `u32 1024 f32 2.0 i32 -1`: a type holds until the next one. */
export function parsePush(text: string): Uint8Array {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const values: number[] = [];
  let type = "";
  const cell = new DataView(new ArrayBuffer(4));
  for (const word of words) {
    if (word === "u32" || word === "i32" || word === "f32") {
      type = word;
      continue;
    }
    const value = Number(word);
    const bad = usage(`--push: ${word} is no ${type || "value after a type u32, i32 or f32"}`);
    if (type === "" || word === "" || Number.isNaN(value)) throw bad;
    if (type === "f32") cell.setFloat32(0, value, true);
    else if (!Number.isInteger(value)) throw bad;
    else if (type === "u32" && value >= 0 && value <= 0xffffffff) cell.setUint32(0, value, true);
    else if (type === "i32" && value >= -(2 ** 31) && value < 2 ** 31) cell.setInt32(0, value, true);
    else throw bad;
    values.push(cell.getUint32(0, true));
  }
  if (values.length * 4 > maxPushBytes) {
    throw usage(`--push: ${values.length * 4} bytes, at most ${maxPushBytes}`);
  }
  return new Uint8Array(Uint32Array.from(values).buffer);
}

/** `X`, `X,Y` or `X,Y,Z`. */
export function parseGroups(text: string): [number, number, number] {
  const parts = text.split(",").map(Number);
  const [x = 1, y = 1, z = 1] = parts;
  if (parts.length > 3 || ![x, y, z].every((n) => Number.isInteger(n) && n >= 1 && n <= 65_535)) {
    throw usage(`--groups ${text}: expected X, X,Y or X,Y,Z, each from 1 to 65535`);
  }
  return [x, y, z];
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400)) throw usage(`--timeout-seconds ${text}: expected a number above 0`);
  return seconds;
}

export interface MachineFlags {
  readonly seed?: string;
  readonly coherence?: boolean;
  readonly counters?: boolean;
}

/** The simulated machine that the flags ask for. */
export function parseMachine({ seed, coherence = false, counters = false }: MachineFlags): MachineOptions {
  if (seed !== undefined && !/^\d{1,9}$/.test(seed))
    throw new CliError(2, `--seed: ${seed} is no number from 0 to 999999999`);
  return { coherence, counters, ...(seed === undefined ? {} : { seed: Number(seed) }) };
}
