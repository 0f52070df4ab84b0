import type { Diagnostic } from "../base/index.ts";
import type { SpirvTarget } from "../spirv/index.ts";
import { check } from "./check/index.ts";
import { Diagnostics } from "./diagnostics.ts";
import { emitModule } from "./emit/index.ts";
import { noDefines, type Preprocessed, preprocess } from "./preprocess/index.ts";
import { Sources } from "./source.ts";
import { parse } from "./syntax/index.ts";
import { T } from "./token.ts";
import { giveTokens, type Tokens } from "./tokens.ts";

export interface GlslRequest {
  readonly source: string;
  readonly filename: string;
  readonly stage: "compute" | "vertex" | "fragment";
  /** The function to start at; default `main`. */
  readonly entryPoint?: string;
  readonly defines?: Readonly<Record<string, string>>;
  /** Files that `#include` may read, by path. */
  readonly includes?: Readonly<Record<string, string>>;
  readonly targetEnv?: SpirvTarget;
  readonly dialect?: "vulkan" | "relaxed";
  /** A fragment shader of Shadertoy: its `mainImage` gets the uniforms and the entry point around it; implies `relaxed`. */
  readonly mainImage?: boolean;
  /** OpLine for all code; default true. */
  readonly debugInfo?: boolean;
  /** Errors to keep; default 100. */
  readonly maxDiagnostics?: number;
}

export type GlslResult =
  | {
      readonly ok: true;
      /** The module. A small one may share its `buffer` with others, as a small `Buffer` does. */
      readonly words: Uint32Array;
      /** Warnings. */
      readonly diagnostics: readonly Diagnostic[];
      /** Keys of `includes` that were read. */
      readonly filesRead: readonly string[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly filesRead: readonly string[] };

const noNames: ReadonlySet<string> = new Set();
const coreNames: ReadonlySet<string> = new Set(["core460"]);

/** Extensions that are on, and what rows of built-in things are marked with as if it were one: dialect and version. */
function namesThatHold({ version, extensions }: Preprocessed, relaxed: boolean): ReadonlySet<string> {
  const isCore = !version.es && version.number >= 460;
  // most shaders name none, and share theirs
  if (extensions.size === 0 && !relaxed) return isCore ? coreNames : noNames;
  const names = new Set<string>();
  for (const [name, behavior] of extensions) if (behavior !== "disable") names.add(name);
  if (relaxed) names.add("relaxed");
  if (isCore) names.add("core460");
  return names;
}

/** Extensions whose uses are warned of. */
function warnedNames({ extensions }: Preprocessed): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const [name, behavior] of extensions) {
    if (behavior !== "warn") continue;
    names ??= new Set();
    names.add(name);
  }
  return names ?? noNames;
}

/** GLSL for Vulkan to SPIR-V. Every mistake of the source is a diagnostic, all in one run; nothing is thrown for it. */
export function compileGlsl(request: GlslRequest): GlslResult {
  const { source, filename, defines = noDefines, includes = {} } = request;
  const { mainImage = false } = request;
  const relaxed = request.dialect === "relaxed" || mainImage;
  const sources = new Sources();
  const diagnostics = new Diagnostics(sources, request.maxDiagnostics ?? 100);
  const preprocessed = preprocess({ filename, source, defines, includes, relaxed, mainImage }, sources, diagnostics);
  const { filesRead } = preprocessed;
  // the rest of the source is not known, so more messages would mislead
  if (preprocessed.exhausted) return { ok: false, diagnostics: diagnostics.items, filesRead };
  try {
    return compilePreprocessed(request, preprocessed, sources, diagnostics, relaxed);
  } catch (failure) {
    // Where nothing nests deep, recursion without end is a fault of ours.
    if (!isStackOverflow(failure) || !reportDeepest(preprocessed.tokens, diagnostics)) throw failure;
    return { ok: false, diagnostics: diagnostics.items, filesRead };
  }
}

/** The stack of a thread that calls from deep inside or was given a small one may end before the parser's limit. */
function isStackOverflow(failure: unknown): boolean {
  return failure instanceof RangeError && failure.message.includes("call stack");
}

/** Brackets that stand in each other this deep fit any stack. */
const SHALLOW = 64;

/** Names the bracket that stands deepest as nested too deep; false where none is. */
function reportDeepest(tokens: Tokens, diagnostics: Diagnostics): boolean {
  let depth = 0;
  let most = 0;
  let deepest = 0;
  for (let at = 0; at < tokens.length; at++) {
    const kind = tokens.kinds[at];
    if (kind === T.LeftBrace || kind === T.LeftParen || kind === T.LeftBracket) {
      depth++;
      if (depth <= most) continue;
      most = depth;
      deepest = at;
    } else if (kind === T.RightBrace || kind === T.RightParen || kind === T.RightBracket) {
      depth--;
    }
  }
  if (most <= SHALLOW) return false;
  diagnostics.error("GLSL_NESTING", { limit: most - 1 }, tokens.positions[deepest]!, tokens.ends[deepest]!);
  return true;
}

function compilePreprocessed(
  request: GlslRequest,
  preprocessed: Preprocessed,
  sources: Sources,
  diagnostics: Diagnostics,
  relaxed: boolean,
): GlslResult {
  const { stage, entryPoint = "main" } = request;
  const { filesRead, version, vulkanMemoryModel } = preprocessed;
  const unit = parse(preprocessed.tokens, diagnostics);
  giveTokens(preprocessed.tokens);
  const { lostNames } = unit;
  const { targetEnv = "vulkan1.3", debugInfo = true } = request;
  const hasSubgroups = targetEnv !== "vulkan1.0";
  const module = check(unit, {
    stage,
    entryPoint,
    version,
    extensions: namesThatHold(preprocessed, relaxed),
    warned: warnedNames(preprocessed),
    ranges: preprocessed.extensionRanges,
    lostNames,
    diagnostics,
    relaxed,
    hasSubgroups,
  });
  if (module === undefined || diagnostics.hasErrors) return { ok: false, diagnostics: diagnostics.items, filesRead };
  const words = emitModule(
    module,
    { stage, entryPoint, targetEnv, version, vulkanMemoryModel, debugInfo, sources },
    diagnostics,
  );
  if (words === undefined) return { ok: false, diagnostics: diagnostics.items, filesRead };
  return { ok: true, words, diagnostics: diagnostics.items, filesRead };
}
