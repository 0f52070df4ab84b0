/** What `#version` says. `es` is the embedded profile. */
export interface Version {
  readonly number: number;
  readonly es: boolean;
}

const desktop: ReadonlySet<number> = new Set([140, 150, 330, 400, 410, 420, 430, 440, 450, 460]);
const embedded: ReadonlySet<number> = new Set([310, 320]);

/** Taken in the relaxed dialect. */
const olderDesktop: ReadonlySet<number> = new Set([110, 120, 130]);
const olderEmbedded: ReadonlySet<number> = new Set([100, 300]);

/** The version to go on with where the one asked for is not to be had: the reference does the same. */
export function nearestVersion({ number, es }: Version): Version {
  if (es) return { number: 310, es };
  return { number: number < 140 ? 140 : 450, es };
}

/** Versions that a Vulkan shader may name. Source: GL_KHR_vulkan_glsl, and what the reference compiler takes. */
export function isSupportedVersion(version: Version, relaxed: boolean): boolean {
  if (relaxed && (version.es ? olderEmbedded : olderDesktop).has(version.number)) return true;
  return (version.es ? embedded : desktop).has(version.number);
}

/** The version of a shader that doesn't say; in the relaxed dialect that of desktop OpenGL. */
export function defaultVersion(relaxed: boolean): Version {
  return relaxed ? { number: 110, es: false } : { number: 100, es: true };
}
