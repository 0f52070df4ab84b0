/** What the host provides (module `host`). */

/** A pass has run: its number, whether it changed anything. The host may call `snapshot` from here. */
export declare function passed(pass: u32, changed: u32): void;

/** A phase of the back end has run: its number, machine instructions after it. With `OptionFlag.PHASES` only. */
export declare function phased(phase: u32, instructions: u32): void;
