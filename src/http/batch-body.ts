import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { httpError } from "./codes.ts";
import type { JsonBytes } from "./json-body.ts";
import { skipString } from "./json-scan.ts";

/** A batch is taken apart for this long before other requests get a turn. */
const turnMs = 5;
/** Bodies of another form than the usual are parsed whole up to this size: a few milliseconds. */
const wholeBytes = 1 << 20;
const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const newline = 0x0a;
const field = Buffer.from('"shaders"');

/** Gives other requests their turn where this one has had its own. */
export class Turns {
  #began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#began > turnMs;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === newline || byte === 0x0d;

function skipBlank(bytes: Buffer, at: number): number {
  let next = at;
  while (isBlank(bytes[next])) next++;
  return next;
}

/** Past the value that begins at `at`: where a comma or a bracket follows that is not its own. Whether it is JSON is not looked at. */
function skipValue(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let next = at; next < bytes.length; ) {
    const byte = bytes[next];
    if (byte === quote) {
      next = skipString(bytes, next);
      continue;
    }
    if (byte === openObject || byte === openList) depth++;
    else if (depth === 0 && (byte === comma || byte === closeList || byte === closeObject)) return next;
    else if (byte === closeObject || byte === closeList) depth--;
    next++;
  }
  return bytes.length;
}

/** The values of `{"shaders": […]}`, at most `limit` + 1; undefined where the body has another form. */
async function splitList(bytes: Buffer, limit: number): Promise<readonly Buffer[] | undefined> {
  const turns = new Turns();
  let at = skipBlank(bytes, 0);
  const expect = (byte: number) => {
    if (bytes[at] !== byte) return false;
    at = skipBlank(bytes, at + 1);
    return true;
  };
  if (!expect(openObject) || !bytes.subarray(at, at + field.length).equals(field)) return undefined;
  at = skipBlank(bytes, at + field.length);
  if (!expect(colon) || !expect(openList)) return undefined;
  const values: Buffer[] = [];
  if (bytes[at] !== closeList) {
    do {
      const end = skipValue(bytes, at);
      values.push(bytes.subarray(at, end));
      at = end;
      if (values.length > limit) return values;
      if (turns.isOver) await turns.next();
    } while (expect(comma));
  }
  return expect(closeList) && expect(closeObject) && at === bytes.length ? values : undefined;
}

/**
 * The shaders of a JSON body, parsed; those above `bytesEach` as they came. Long bodies take several turns. undefined:
 * the body has another form and is to be parsed whole. Errors: BAD_REQUEST, Fastify's for a value that is no JSON.
 */
export async function shadersOfJson(
  request: FastifyRequest,
  body: JsonBytes,
  limit: number,
  bytesEach: number,
): Promise<readonly unknown[] | undefined> {
  const values = await splitList(body.bytes, limit);
  if (values === undefined) {
    if (body.bytes.length <= wholeBytes) return undefined;
    throw httpError("BAD_REQUEST", { reason: "a batch is an object with a list of shaders, and nothing else" });
  }
  const turns = new Turns();
  const shaders: unknown[] = [];
  for (const value of values) {
    shaders.push(value.length > bytesEach ? value : body.part(value).parse(request));
    if (turns.isOver) await turns.next();
  }
  return shaders;
}

/** The lines of a body that are not blank, at most `limit` + 1. */
export async function linesOf(bytes: Buffer, limit: number): Promise<readonly Buffer[]> {
  const turns = new Turns();
  const lines: Buffer[] = [];
  for (let at = skipBlank(bytes, 0); at < bytes.length && lines.length <= limit; ) {
    const found = bytes.indexOf(newline, at);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(at, end));
    at = skipBlank(bytes, end);
    if (turns.isOver) await turns.next();
  }
  return lines;
}
