/** Words of the memory that small results share, and of the largest result that is put there. */
const POOL_WORDS = 16_384;
const POOLED_WORDS = POOL_WORDS >> 3;
let pool = new Uint32Array(POOL_WORDS);
let pooled = 0;

/**
 * Zeros. Few of them are a view of memory that they share with others, as small `Buffer`s do: memory of its own costs as
 * much as filling it. Not for what other threads get, who would get all of that memory.
 */
export function takeWords(length: number): Uint32Array {
  if (length > POOLED_WORDS) return new Uint32Array(length);
  if (pooled + length > POOL_WORDS) {
    pool = new Uint32Array(POOL_WORDS);
    pooled = 0;
  }
  const start = pooled;
  pooled = start + length;
  return pool.subarray(start, pooled);
}
