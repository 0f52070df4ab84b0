/** A shader of a project that completes its sources itself, as that project would give it to the driver. */
export interface ExpandedShader {
  readonly name: string;
  readonly stage: "vertex" | "fragment";
  readonly source: string;
  /** Shadertoy's way: the source has `mainImage`. */
  readonly mainImage?: boolean;
}
