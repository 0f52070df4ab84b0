/** What selection knows of the lanes that are not active in the block at hand. */
export const enum Lanes {
  /** There are none. */
  ALL = 0,
  /** They were never launched: their registers hold nothing. */
  OTHERS_EMPTY = 1,
  /** They wait elsewhere, with values in registers that this block may use for others. */
  OTHERS_HELD = 2,
}

let lanes: Lanes = Lanes.OTHERS_HELD;

export function setLanes(known: Lanes): void {
  lanes = known;
}
export function knownLanes(): Lanes {
  return lanes;
}
