import type { ElementLayout } from "./data-type.ts";
import type { Command, Comparator, Tolerance } from "./script.ts";
import { ScriptError } from "./source.ts";
import { bitsOf, type Component, componentOf, leafAt, readBits } from "./values.ts";

/** Floats that are compared without a tolerance may differ by this much of the expected one. */
const exactRatio = 1e-8;

function near(got: Component, want: Component, tolerance: Tolerance | undefined): boolean {
  if (got === want) return true;
  if (tolerance === undefined && typeof got === "bigint") return false;
  const a = Number(got);
  const b = Number(want);
  // a NaN is met by a NaN only, an infinity by its like
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a === b;
  const bound =
    tolerance === undefined
      ? Math.abs(b) * exactRatio
      : tolerance.percent
        ? (Math.abs(b) * tolerance.value) / 100
        : tolerance.value;
  return Math.abs(a - b) <= bound;
}

/** Compares one component. */
function holds(comparator: Comparator, got: Component, want: Component, tolerance?: Tolerance): boolean {
  switch (comparator) {
    case "EQ":
      return near(got, want, tolerance);
    case "NE":
      return !near(got, want, undefined);
    case "LT":
      return got < want;
    case "LE":
      return got <= want;
    case "GT":
      return got > want;
    case "GE":
      return got >= want;
  }
}

function shown(value: Component): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A value that is not as expected; `place` is its number in the check. */
export class CheckError extends ScriptError {
  readonly place: number;

  constructor(line: number, message: string, place: number) {
    super(line, message);
    this.place = place;
  }
}

/** Throws at the first value (or at the one numbered `only`) that is not as expected, or past the buffer's end. */
export function checkValues(
  command: Extract<Command, { does: "expect-values" }>,
  bytes: Uint8Array,
  only?: number,
): void {
  const { buffer, layout, offsetBytes, comparator, literals, tolerances, line } = command;
  for (const [i, literal] of literals.entries()) {
    if (only !== undefined && i !== only) continue;
    const { leaf, atBits } = leafAt(layout, offsetBytes, i);
    const { bits } = leaf.scalar;
    const at = atBits / 8;
    if (atBits + bits > bytes.length * 8) {
      throw new ScriptError(line, `buffer ${buffer.name} ends at byte ${bytes.length}, a value is expected at ${at}`);
    }
    const got = componentOf(readBits(bytes, atBits, bits), leaf.scalar);
    const want = componentOf(bitsOf(literal, leaf.scalar), leaf.scalar);
    // one tolerance serves every component, several serve theirs
    const tolerance =
      tolerances.length > 1 ? tolerances[(i % layout.leaves.length) % tolerances.length] : tolerances[0];
    if (holds(comparator, got, want, tolerance)) continue;
    const text = `buffer ${buffer.name} byte ${at}: got ${shown(got)}, expected ${comparator} ${shown(want)}`;
    throw new CheckError(line, text, i);
  }
}

function* components(bytes: Uint8Array, layout: ElementLayout): Generator<Component> {
  const count = Math.floor(bytes.length / layout.sizeBytes) * layout.leaves.length;
  for (let i = 0; i < count; i++) {
    const { leaf, atBits } = leafAt(layout, 0, i);
    yield componentOf(readBits(bytes, atBits, leaf.scalar.bits), leaf.scalar);
  }
}

/** Root of the mean square difference of two buffers of one type and size, padding left out. */
function rootMeanSquareError(a: Uint8Array, b: Uint8Array, layout: ElementLayout): number {
  let sum = 0;
  let count = 0;
  const other = components(b, layout);
  for (const value of components(a, layout)) {
    const difference = Number(value) - Number(other.next().value);
    sum += difference * difference;
    count++;
  }
  return Math.sqrt(sum / count);
}

const bins = 256;

/**
 * Earth mover's distance of the two buffers' histograms, of the channel where it is largest. One histogram has 256 bins
 * over the range of an 8-bit channel and sums to 1; the distance counts moves over the whole range as 1.
 */
function histogramDistance(a: Uint8Array, b: Uint8Array, layout: ElementLayout): number {
  const channels = layout.leaves.length;
  const histogram = (bytes: Uint8Array) => {
    const counts = Array.from({ length: channels }, () => new Float64Array(bins));
    let i = 0;
    for (const value of components(bytes, layout)) {
      const bin = Math.min(bins - 1, Math.max(0, Number(value)));
      const row = counts[i++ % channels];
      if (row !== undefined) row[bin] = (row[bin] ?? 0) + 1;
    }
    return counts;
  };
  const elements = Math.max(1, Math.floor(a.length / layout.sizeBytes));
  const left = histogram(a);
  const right = histogram(b);
  const distances = left.map((row, channel) => {
    let carried = 0;
    let moved = 0;
    for (const [bin, count] of row.entries()) {
      carried += (count - (right[channel]?.[bin] ?? 0)) / elements;
      moved += Math.abs(carried);
    }
    return moved / (bins - 1);
  });
  return Math.max(...distances);
}

/** Throws `ScriptError` where two buffers are not as alike as expected. */
export function checkBuffers(
  command: Extract<Command, { does: "expect-buffer" }>,
  bytes: Uint8Array,
  other: Uint8Array,
): void {
  const { how, buffer, tolerance, line } = command;
  const names = `buffers ${buffer.name} and ${command.other.name}`;
  if (bytes.length !== other.length) {
    throw new ScriptError(line, `${names} have ${bytes.length} and ${other.length} bytes`);
  }
  if (how === "EQ_BUFFER") {
    if (Buffer.compare(bytes, other) === 0) return;
    const values = components(other, buffer.layout);
    let index = 0;
    for (const got of components(bytes, buffer.layout)) {
      const want = values.next().value as Component;
      if (got !== want && !Object.is(got, want)) {
        const at = leafAt(buffer.layout, 0, index).atBits / 8;
        throw new ScriptError(line, `${names} differ at byte ${at}: ${shown(got)} and ${shown(want)}`);
      }
      index++;
    }
    return;
  }
  const measure = how === "RMSE_BUFFER" ? rootMeanSquareError : histogramDistance;
  const distance = measure(bytes, other, buffer.layout);
  if (!(distance <= tolerance)) {
    const name = how === "RMSE_BUFFER" ? "root mean square error" : "histogram distance";
    throw new ScriptError(line, `${names}: ${name} ${distance}, at most ${tolerance} expected`);
  }
}
