import { clockUs } from "../base/index.ts";

/** Parts of a compile in their order. `frontEnd`: GLSL or SPIR-V text to words; `read`: words to a module. */
export const phaseNames = ["frontEnd", "read", "validate", "reflect", "core", "record"] as const;

export type PhaseName = (typeof phaseNames)[number];

/** Wall microseconds of each part; 0 where there was none. */
export type Phases = Readonly<Record<PhaseName, number>>;

/** Measures one compile: `end` closes the part that has run since the one before. */
export class PhaseClock {
  readonly phases: Record<PhaseName, number> = { frontEnd: 0, read: 0, validate: 0, reflect: 0, core: 0, record: 0 };
  #since = clockUs();

  end(phase: PhaseName): void {
    const now = clockUs();
    this.phases[phase] += now - this.#since;
    this.#since = now;
  }
}
