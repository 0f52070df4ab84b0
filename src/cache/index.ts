export { countsUpTo, durationBucket, percentile } from "./counters.ts";
export { makeFolder, ReadOnlyFolder } from "./disk-folder.ts";
export type { Identity, MissReason } from "./history.ts";
export { storeProblem } from "./open-store.ts";
export { ShaderCache } from "./shader-cache.ts";
export { isKey, type Key, type Lookup, type TierName, type TierStats } from "./tier.ts";
