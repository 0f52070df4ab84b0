/**
 * One cache: tags and data of 128-byte lines, set-associative, replaced in turn. An instance lies at a fixed address
 * (`CacheLayout`); a line is known by its number, its physical address / 128. Invalidating all lines is a new epoch.
 */
import { CacheField, LINE_BYTES } from "./cache-layout.ts";

export const NO_LINE: u32 = 0xffffffff;

/** A valid tag: the epoch above, line number + 1 below. */
function tagOf(cache: usize, line: u32): u64 {
  return ((<u64>load<u32>(cache, CacheField.EPOCH)) << 32) | (<u64>line + 1);
}

function tagAt(cache: usize, index: u32): usize {
  return cache + CacheField.TAGS + ((<usize>index) << 3);
}

/** Index of `line` in a cache of `lines` lines, `ways` a set; NO_LINE: a miss. */
export function find(cache: usize, lines: u32, ways: u32, line: u32): u32 {
  const first = (line & (lines / ways - 1)) * ways;
  const tag = tagOf(cache, line);
  for (let i = first; i < first + ways; i++) if (load<u64>(tagAt(cache, i)) == tag) return i;
  return NO_LINE;
}

/** Line number held at `index`; NO_LINE where none is valid. */
export function lineAt(cache: usize, index: u32): u32 {
  const tag = load<u64>(tagAt(cache, index));
  return <u32>(tag >> 32) == load<u32>(cache, CacheField.EPOCH) && <u32>tag != 0 ? <u32>tag - 1 : NO_LINE;
}

/** Index that `line` may take: a free one of its set, or the next in turn (whose contents the caller saves first). */
export function victim(cache: usize, lines: u32, ways: u32, line: u32): u32 {
  const first = (line & (lines / ways - 1)) * ways;
  for (let i = first; i < first + ways; i++) if (lineAt(cache, i) == NO_LINE) return i;
  const turn = load<u32>(cache, CacheField.TURN);
  store<u32>(cache, turn + 1, CacheField.TURN);
  return first + (turn & (ways - 1));
}

export function setLine(cache: usize, index: u32, line: u32): void {
  store<u64>(tagAt(cache, index), tagOf(cache, line));
}

export function dropIndex(cache: usize, index: u32): void {
  store<u64>(tagAt(cache, index), 0);
}

/** Invalidates every line. */
export function dropAll(cache: usize): void {
  store<u32>(cache, load<u32>(cache, CacheField.EPOCH) + 1, CacheField.EPOCH);
}

/** Data of the line at `index`. */
export function dataAt(cache: usize, lines: u32, index: u32): usize {
  return cache + CacheField.TAGS + ((<usize>lines) << 3) + <usize>(index * LINE_BYTES);
}
