import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExpandedShader } from "./shader.ts";

/** `const TYPE NAME = VALUE;`, which the benchmark's scenes put in front of a shader: by the name that the shader uses. */
const constants: Readonly<Record<string, string>> = {
  LightSourcePosition: "const vec4 LightSourcePosition = vec4(20.0, 20.0, 10.0, 1.0);",
  LightSourceHalfVector: "const vec3 LightSourceHalfVector = vec3(0.4, 0.4, 0.8);",
  LightColor: "const vec4 LightColor = vec4(0.4, 0.4, 0.4, 1.0);",
  MaterialDiffuse: "const vec4 MaterialDiffuse = vec4(0.0, 0.0, 1.0, 1.0);",
  RefractiveIndex: "const float RefractiveIndex = 1.2;",
  TextureSize: "const vec2 TextureSize = vec2(512.0, 512.0);",
  TextureStepX: "const float TextureStepX = 0.001;",
  TextureStepY: "const float TextureStepY = 0.001;",
  PI: "const float PI = 3.141593;",
};

/** The kernel of a blur over three texels, as the effects write it. */
const convolution = [0, 1, 2]
  .map((at) => `texture2D(Texture0, TextureCoord + vec2(${at - 1}.0 * TextureStepX, 0.0)) * Kernel${at}`)
  .join(" +\n");
const kernel = [0, 1, 2].map((at) => `const float Kernel${at} = 0.25;\n`).join("");

/** The precision macros that each shader of the benchmark gets, for desktop OpenGL and for OpenGL ES 2.0. */
const prefixes = {
  desktop: "#define HIGHP_OR_DEFAULT\n#define MEDIUMP_OR_DEFAULT\n",
  es: "#version 100\n#define HIGHP_OR_DEFAULT highp\n#define MEDIUMP_OR_DEFAULT mediump\nprecision mediump float;\n",
} as const;

/** Whether a name stands in a source that does not declare it itself. */
function wants(source: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(source) && !new RegExp(`\\b(?:vec\\d|float)\\s+${name}\\b`).test(source);
}

/**
 * The shaders of the folder `shaders` of glmark2's data, each as its scenes complete it: constants in front, the places
 * `$MAIN$`, `$PROCESS$`, `$NLOOPS$`, `$CONVOLUTION$`, `$DO_LIGHTS$` filled in each way, for desktop OpenGL and for ES.
 */
export function glmark2Shaders(folder: string): ExpandedShader[] {
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const names = readdirSync(folder).sort();
  const steps = new Map(names.filter((name) => name.endsWith(".all")).map((name) => [name, read(name)]));
  const loop = steps.get("loop-step-loop.all") ?? "";
  const mains = (name: string, stage: string): string[] => {
    const own = [...steps].filter(([step]) => step.startsWith(name.split(".")[0]!)).map(([, text]) => text);
    const [count, variable] = ["5", `${stage === "vertex" ? "Vertex" : "Fragment"}Loops`];
    return own
      .flatMap((text) =>
        text === loop ? [text.replace("$NLOOPS$", count), text.replace("$NLOOPS$", variable)] : [text],
      )
      .map((text) => text.repeat(3));
  };
  const result: ExpandedShader[] = [];
  for (const name of names) {
    const stage = name.endsWith(".vert") ? "vertex" : "fragment";
    if (!/\.(?:vert|frag)$/.test(name)) continue;
    const source = read(name)
      .replace("$CONVOLUTION$", `result = ${convolution};`)
      .replace(
        "$DO_LIGHTS$",
        "gl_FragColor = vec4(0.0);\n gl_FragColor += compute_color(LightSourcePosition, vec4(0.4));",
      );
    const texts = source.includes("$MAIN$")
      ? mains(name, stage).map((text) => source.replace("$MAIN$", text))
      : [source];
    for (const [at, text] of texts.entries()) {
      const whole = text.replace("$PROCESS$", steps.get("function-step-low.all") ?? "");
      const needed = Object.entries(constants).filter(([each]) => wants(whole, each));
      const front = needed.map(([, line]) => `${line}\n`).join("") + (whole.includes("Kernel0") ? kernel : "");
      for (const [api, prefix] of Object.entries(prefixes)) {
        result.push({ name: `${name} ${at} ${api}`, stage, source: `${prefix}${front}${whole}` });
      }
    }
  }
  return result;
}
