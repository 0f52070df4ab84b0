/**
 * asc transform: how large a function Binaryen may be to copy into its callers. WASM engines do not inline calls within
 * a module, and the core is full of small accessors with a bounds check, a little above asc's own limits (12, 70, 200).
 * Measured over a corpus of 367 shaders: 6.6% less time at level 0, 4.6% at level 2, for a module a fifth larger;
 * limits that are higher still (30, 120, 2000) gain another percent at level 0 and lose three at level 2.
 */
const limits = {
  /** Always. */
  setAlwaysInlineMaxSize: 12,
  /** Where it calls nothing itself. */
  setFlexibleInlineMaxSize: 120,
  /** Where it has one caller. */
  setOneCallerInlineMaxSize: 400,
};

export default class InlineLimits {
  afterCompile() {
    const { module, options } = this.program;
    if (options.optimizeLevelHint < 3) return;
    for (const [setter, size] of Object.entries(limits)) {
      const set = module[setter];
      if (typeof set !== "function") throw new Error(`asc has no ${setter} any more`);
      module[setter] = () => set.call(module, size);
    }
  }
}
