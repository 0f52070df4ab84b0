import type { CompileRequest, CompileResult, ShaderCompiler } from "../codeobj/index.ts";
import type { CompileOutcome, compileShader } from "../compile/index.ts";
import type { Core } from "../core/index.ts";

/** Compiles in this thread, without a cache or limits. */
export interface LocalCompiler extends ShaderCompiler {
  compile(request: CompileRequest): Promise<CompileResult>;
  /** With the reports of the compile; `dumpAfter` as in `compileShader`. */
  compileWithReports(request: CompileRequest, dumpAfter?: readonly string[]): Promise<CompileOutcome>;
}

export interface LocalCompilerOptions {
  /** The core validates the IR after each pass. */
  readonly checked?: boolean;
  /** The release build of the core, where it is being made ready already; not for `checked`. */
  readonly module?: Promise<WebAssembly.Module>;
}

/** A compiler for command line, driver and examples. The core is loaded by the first compile. */
export function createLocalCompiler({ checked = false, module: given }: LocalCompilerOptions = {}): LocalCompiler {
  let core: Core | undefined;
  let compile: typeof compileShader | undefined;
  const compileWithReports = async (request: CompileRequest, dumpAfter?: readonly string[]) => {
    // Loaded by the first compile: the server and most commands never compile in their own thread. An import asks the
    // loader each time, which takes as long as a small compile.
    if (compile === undefined || core === undefined) {
      const { createCore, loadCoreModule } = await import("../core/index.ts");
      // Other threads make it ready while this one loads the rest.
      const module = checked || given === undefined ? loadCoreModule(checked) : given;
      const { compileShader, opName } = await import("../compile/index.ts");
      core = await createCore({ checked, module: await module, opName });
      compile = compileShader;
    }
    try {
      return compile(request, core, dumpAfter);
    } catch (error) {
      // A trapped core is unusable; the next compile gets another.
      core = undefined;
      throw error;
    }
  };
  return {
    compileWithReports,
    compile: async (request) => {
      const outcome = await compileWithReports(request);
      return outcome.ok ? { ok: true, record: outcome.record } : { ok: false, diagnostics: outcome.diagnostics };
    },
  };
}
