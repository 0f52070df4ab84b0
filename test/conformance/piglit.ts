import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { compileGlsl, glslExtensions } from "../../src/glsl/index.ts";
import { shaderFiles } from "./shaders.ts";

/** What a parser test of Piglit says about itself, in the comment at its start. */
interface ParserTest {
  readonly expected: "pass" | "fail";
  readonly version: string;
  readonly extensions: readonly string[];
  readonly link: boolean;
}

/** Names of OpenGL's compatibility profile, which neither Vulkan nor its relaxed dialect has. */
const compatibility =
  /\bgl_(?:Vertex|Normal|Color|SecondaryColor|MultiTexCoord\d|TexCoord|FogCoord|FrontColor|BackColor|FrontSecondaryColor|BackSecondaryColor|FogFragCoord|ClipVertex|ModelView\w*|Projection\w*|NormalMatrix|NormalScale|Texture\w*|Light\w*|FrontMaterial|BackMaterial|FrontLight\w*|BackLight\w*|Fog|Point|ClipPlane|EyePlane\w*|ObjectPlane\w*|DepthRange\w*|Max(?:Lights|ClipPlanes|TextureUnits|TextureCoords))\b|\bftransform\b/;

const versions = /^(?:1\.[45]0|3\.30|4\.[0-5]0|1\.00|3\.[012]0)(?: es)?$/;

/** Mistakes that only linking finds, which a test without it does not count. */
const linking: ReadonlySet<string> = new Set(["GLSL_NO_ENTRY_POINT", "GLSL_NO_BODY"]);

function parserTest(source: string): ParserTest | undefined {
  const config = /\[config\]([\s\S]*?)\[end config\]/.exec(source)?.[1];
  const field = (name: string): string =>
    new RegExp(`${name}:[ \\t]*([^\\r\\n]*)`).exec(config ?? "")?.[1]?.trim() ?? "";
  const expected = field("expect_result");
  if (expected !== "pass" && expected !== "fail") return undefined;
  const extensions = field("require_extensions")
    .split(/\s+/)
    .filter((name) => name !== "");
  return { expected, version: field("glsl_version"), extensions, link: field("check_link") === "true" };
}

/**
 * Runs the parser tests in scope: versions 1.40 to 4.50 and ES, comp, vert and frag, only extensions that we have, no
 * names of the compatibility profile. Prints the counts and every disagreement. True where 98% of "pass" and 90% of
 * "fail" agree.
 */
export function piglitParserTests(root: string): boolean {
  const counts = { pass: [0, 0], fail: [0, 0] };
  const groups = new Map<string, string[]>();
  // 64-bit integers of ARB_gpu_shader_int64 are in no version of the language
  const known = new Set(glslExtensions.filter((name) => name !== "GL_ARB_gpu_shader_int64"));
  for (const { path, stage } of shaderFiles(root)) {
    const source = readFileSync(path, "latin1");
    const test = parserTest(source);
    if (test === undefined || !versions.test(test.version) || compatibility.test(source)) continue;
    // "!name" wants a compiler without it
    if (!test.extensions.every((name) => known.has(name))) continue;
    const name = relative(root, path);
    const result = compileGlsl({ source, filename: name, stage, dialect: "relaxed", targetEnv: "vulkan1.2" });
    const errors = result.diagnostics.filter(({ severity }) => severity === "error");
    const first = errors.find(({ code }) => test.link || !linking.has(code));
    const passed = first === undefined;
    const count = counts[test.expected];
    count[1]!++;
    if (passed === (test.expected === "pass")) {
      count[0]!++;
      continue;
    }
    const key = first === undefined ? `accepted: ${name.replace(/[^/]*$/, "")}` : `${first.code}: ${first.message}`;
    groups.set(key, [...(groups.get(key) ?? []), first === undefined ? name : `${name}:${first.line}`]);
  }
  for (const [key, names] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`${names.length}  ${key}`);
    for (const name of names.slice(0, 400)) console.log(`     ${name}`);
  }
  const [pass, passes] = counts.pass as [number, number];
  const [fail, fails] = counts.fail as [number, number];
  console.log(`Piglit says pass for ${passes}: we accept ${pass}; it says fail for ${fails}: we reject ${fail}`);
  return pass >= 0.98 * passes && fail >= 0.9 * fails;
}
