/** Live segments: lists of half positions by unit, whether two of them meet, and their union. */
import { Fail, fail, Limit } from "../../base/index.ts";
import { MAX_SEGMENTS, segEnd, segNext, segStart, uEnd, uFinger, uLast, uSegments } from "./columns.ts";

let segCount: u32 = 1;

export function resetSegments(): void {
  segCount = 1;
}

/** A live segment without a next one. Over capacity: fails, and gives segment 0. */
export function newSegment(start: u32, end: u32): u32 {
  if (segCount >= MAX_SEGMENTS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_SEGMENTS, 0);
    return 0;
  }
  segStart[segCount] = start;
  segEnd[segCount] = end;
  segNext[segCount] = 0;
  return segCount++;
}

/** Adds [start, end) behind the unit's last segment, or to it where they touch; the last segment then. Starts ascend. */
export function pushSegment(u: u32, last: u32, start: u32, end: u32): u32 {
  if (last != 0 && segEnd[last] >= start) {
    if (end > segEnd[last]) segEnd[last] = end;
    return last;
  }
  const s = newSegment(start, end);
  if (last == 0) uSegments[u] = s;
  else segNext[last] = s;
  return s;
}

// Registers that copies join over a long shader have many segments, and are asked for in order: `uFinger`.

/** The last segment of unit u that starts at `position` or before it, as far as the finger helps; else the first one. */
function from(u: u32, position: u32): u32 {
  let s = uFinger[u];
  if (s == 0 || segStart[s] > position) s = uSegments[u];
  for (let next = segNext[s]; next != 0 && segStart[next] <= position; next = segNext[s]) s = next;
  uFinger[u] = s;
  return s;
}

/** Whether two units are live at the same time. */
export function interfere(a: u32, b: u32): bool {
  let x = uSegments[a];
  let y = uSegments[b];
  if (x == 0 || y == 0) return false;
  if (uEnd[a] <= segStart[y] || uEnd[b] <= segStart[x]) return false;
  if (segStart[x] < segStart[y]) x = from(a, segStart[y]);
  else y = from(b, segStart[x]);
  // What lies in a hole of the other one is passed over at once, however long it is.
  const endA = uEnd[a];
  const endB = uEnd[b];
  while (true) {
    if (segEnd[x] <= segStart[y]) {
      x = segNext[x];
      if (x == 0 || segStart[x] >= endB) return false;
    } else if (segEnd[y] <= segStart[x]) {
      y = segNext[y];
      if (y == 0 || segStart[y] >= endA) return false;
    } else return true;
  }
}

/**
 * Gives unit `a` the segments of `b` too. The list that starts first takes the other one in: a walk over what the two have
 * side by side, not over the whole of the longer one.
 */
export function uniteSegments(a: u32, b: u32): void {
  if (uSegments[b] == 0) return;
  if (uSegments[a] == 0) {
    uSegments[a] = uSegments[b];
    uLast[a] = uLast[b];
    uEnd[a] = uEnd[b];
    uFinger[a] = uFinger[b];
    return;
  }
  const swapped = segStart[uSegments[b]] < segStart[uSegments[a]];
  const early = swapped ? b : a;
  const late = swapped ? a : b;
  const earlyLast = uLast[early];
  const lateLast = uLast[late];
  const head = uSegments[early];
  let y = uSegments[late];
  // What ends before the late list begins stays as it is.
  let last = uEnd[early] < segStart[y] ? earlyLast : from(early, segStart[y]);
  let x = segNext[last];
  if (x != 0 && segEnd[last] < segStart[y] && uEnd[late] <= segStart[x]) {
    // The late list lies in a hole of the early one: it goes in as a whole, joined to what it touches at its end.
    const end = uEnd[early];
    const touches = uEnd[late] == segStart[x];
    segNext[last] = y;
    segNext[lateLast] = touches ? segNext[x] : x;
    if (touches) segEnd[lateLast] = segEnd[x];
    uSegments[a] = head;
    uLast[a] = touches && x == earlyLast ? lateLast : earlyLast;
    uEnd[a] = end;
    uFinger[a] = lateLast;
    return;
  }
  while (y != 0 && (x != 0 || segEnd[last] >= segStart[y])) {
    let s: u32;
    if (x != 0 && segStart[x] < segStart[y]) {
      s = x;
      x = segNext[x];
    } else {
      s = y;
      y = segNext[y];
    }
    if (segEnd[last] >= segStart[s]) {
      if (segEnd[s] > segEnd[last]) segEnd[last] = segEnd[s];
      continue;
    }
    segNext[last] = s;
    last = s;
  }
  // One list is left at most: the rest of it follows as it is, but for what `last` reaches by now.
  while (x != 0 && segEnd[last] >= segStart[x]) {
    if (segEnd[x] > segEnd[last]) segEnd[last] = segEnd[x];
    x = segNext[x];
  }
  const rest = x != 0 ? x : y;
  segNext[last] = rest;
  const end = rest == 0 ? last : x != 0 ? earlyLast : lateLast;
  uSegments[a] = head;
  uLast[a] = end;
  uEnd[a] = segEnd[end];
  uFinger[a] = last;
}
