import type { Limits, Names } from "./build.ts";
import type { DataType } from "./data-type.ts";
import type { ReadScriptFile, ScriptBuffer, ScriptPipeline, ScriptShader } from "./script.ts";
import type { ScriptReader } from "./source.ts";

/** Everything that an AmberScript has declared so far. */
export interface AmberContext {
  readonly reader: ScriptReader;
  readonly limits: Limits;
  readonly readFile: ReadScriptFile;
  readonly virtualFiles: Names<string>;
  readonly shaders: Names<ScriptShader>;
  readonly structs: Map<string, DataType>;
  readonly buffers: Names<ScriptBuffer>;
  readonly samplers: Names<{ readonly line: number }>;
  readonly pipelines: Names<ScriptPipeline>;
}
