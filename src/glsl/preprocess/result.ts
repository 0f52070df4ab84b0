import type { Tokens } from "../tokens.ts";
import type { Behavior, ExtensionRange } from "./extensions.ts";
import type { Version } from "./version.ts";

/** What the preprocessor reads. */
export interface PreprocessOptions {
  readonly filename: string;
  readonly source: string;
  readonly defines: Readonly<Record<string, string>>;
  readonly includes: Readonly<Record<string, string>>;
  readonly relaxed: boolean;
  /** The source has `mainImage` alone, and gets what Shadertoy puts around it. */
  readonly mainImage?: boolean;
}

export interface Preprocessed {
  /** Expanded tokens with keyword kinds, closed by an end-of-file token. */
  readonly tokens: Tokens;
  readonly version: Version;
  readonly extensions: ReadonlyMap<string, Behavior>;
  /** Those that don't hold for the whole source; none where several files make it up, whose places have no order. */
  readonly extensionRanges: ReadonlyMap<string, ExtensionRange>;
  /** `#pragma use_vulkan_memory_model` stood somewhere. */
  readonly vulkanMemoryModel: boolean;
  /** Keys of `includes` that were read, in the order of first use. */
  readonly filesRead: readonly string[];
  /** A limit on expansions or included text ended it early, which is reported: the tokens are only the start, without end. */
  readonly exhausted: boolean;
}
