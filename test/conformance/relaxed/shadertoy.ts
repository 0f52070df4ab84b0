import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExpandedShader } from "./shader.ts";

/** The shaders in a folder of Shadertoy sources (`.glsl`): those with `mainImage`, and whole ones by their suffix. */
export function shadertoyShaders(folder: string): ExpandedShader[] {
  return readdirSync(folder)
    .sort()
    .filter((name) => name.endsWith(".glsl"))
    .map((name) => {
      const source = readFileSync(join(folder, name), "utf8");
      const stage = name.endsWith(".vert.glsl") ? "vertex" : "fragment";
      return { name, stage, source, mainImage: /\bmainImage\b/.test(source) };
    });
}
