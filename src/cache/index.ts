export { type Counters, durationBucket, percentile } from "./counters.ts";
export { DiskTier } from "./disk-tier.ts";
export type { Identity, MissReason } from "./history.ts";
export { missReasons } from "./history.ts";
export { ShaderCache, type ShaderCacheOptions } from "./shader-cache.ts";
export { isKey, type Key, type Lookup, type Tier, type TierName, type TierStats } from "./tier.ts";
