/**
 * Linear memory of the compiler: fixed regions, so that each column's address is a constant. Pages that a compile does
 * not touch cost nothing. Nothing here is cleared between compiles: whoever hands out an index writes its row first.
 */

/** Static data of the module lies below. Input words, options and output blocks (`io.ts`). 63 MiB. */
export const IO_BASE: usize = 0x0010_0000;
/** IR columns. 160 MiB. */
export const IR_BASE: usize = 0x0400_0000;
/** Tables of the lifter; dead after it. 96 MiB. */
export const LIFT_BASE: usize = 0x0e00_0000;
/** Scratch columns of passes; each pass may use all of it. 48 MiB. */
export const PASS_BASE: usize = 0x1400_0000;
/** The back end's columns. 208 MiB. */
export const BACKEND_BASE: usize = 0x1700_0000;
export const BACKEND_END: usize = 0x2400_0000;
