import { decodeRecord, type ShaderCompiler } from "../codeobj/index.ts";
import type { CompilePool } from "../service/index.ts";

/** The compile interface over worker threads: an endless compile ends at the pool's time limit. Errors: `ServiceError`. */
export function createPoolCompiler(pool: CompilePool): ShaderCompiler {
  let next = 0;
  return {
    async compile(request) {
      const answer = await pool.run({ request }, `run-${next++}`);
      if (answer.kind === "bug") throw new Error(answer.detail);
      if (answer.kind === "refused") return { ok: false, diagnostics: answer.diagnostics };
      const record = decodeRecord(answer.record);
      if (record === undefined) throw new Error("a worker's record cannot be decoded");
      return { ok: true, record };
    },
  };
}
