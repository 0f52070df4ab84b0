import { glslExtensions } from "../../src/glsl/index.ts";
import { disagreements } from "./disagreements.ts";
import type { Reference } from "./reference.ts";
import type { ShaderFile } from "./shaders.ts";

/** Why a shader of a corpus is rightly not compiled, or that there is no reason. */
export interface Refusal {
  readonly reason: string;
  readonly isRight: boolean;
}

/**
 * Numbers that our limits have: what goes past one is refused by design. Vulkan's maxCombinedClipAndCullDistances is 8 on
 * this hardware, and glslangValidator knows no device.
 */
const limit = /^CORE_LIMIT|more than 8 clip and cull distances/;

/** Extensions that a shader names and we do not have. */
export function foreignExtensions(source: string): string[] {
  const named = [...source.matchAll(/^[ \t]*#[ \t]*extension[ \t]+(\w+)/gm)].map(([, extension]) => extension!);
  return named.filter((extension) => extension !== "all" && !glslExtensions.includes(extension));
}

/**
 * Judges a refusal: the reference compiler refuses the shader too; it names an extension outside the list; why we disagree
 * stands in disagreements.ts; it goes past a limit. `reference` undefined: glslangValidator is not installed.
 */
export async function judge(
  file: ShaderFile,
  source: string,
  diagnostic: string,
  reference: Reference | undefined,
): Promise<Refusal> {
  const verdict = await reference?.verdict(file.path, file.suffix);
  if (verdict?.ok === false) return { reason: "invalid: glslangValidator refuses it too", isRight: true };
  if (foreignExtensions(source).length > 0) return { reason: "of an extension that Kiln does not have", isRight: true };
  if (disagreements.some((row) => file.path.endsWith(row.file) && row.ours !== "accept"))
    return { reason: "invalid: glslangValidator is wrong about it (disagreements.ts)", isRight: true };
  if (/^COMPILE_LAYOUT_MISMATCH/.test(diagnostic))
    return { reason: "two kinds of resource at one binding: no pipeline layout has both", isRight: true };
  if (limit.test(diagnostic)) return { reason: `past a limit: ${diagnostic}`, isRight: true };
  return { reason: diagnostic, isRight: false };
}

/** Counts by reason, with up to some names each. */
export class Tally {
  readonly #rows = new Map<string, string[]>();

  add(reason: string, name: string): void {
    const names = this.#rows.get(reason) ?? [];
    this.#rows.set(reason, names);
    names.push(name);
  }

  get total(): number {
    return [...this.#rows.values()].reduce((sum, names) => sum + names.length, 0);
  }

  /** Lines, most frequent first; names where they are few, or all are asked for. */
  lines(all: boolean, few = 4): string[] {
    const sorted = [...this.#rows].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
    return sorted.flatMap(([reason, names]) => [
      `${String(names.length).padStart(7)}  ${reason}`,
      ...(all || names.length <= few ? names.map((name) => `           ${name}`) : []),
    ]);
  }
}
