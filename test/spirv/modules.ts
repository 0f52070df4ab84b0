import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOracle } from "../oracles.ts";

/** Runs `use` with a fresh folder that is gone afterwards. */
export function withFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "kiln-spirv-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The words of a binary file. */
export function readWords(path: string): Uint32Array {
  const bytes = readFileSync(path);
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

const kernels = new URL("../../examples/kernels/", import.meta.url);

/** Sources with what the kernels lack: functions, switch, structs, matrices, atomics, doubles, images, line info. */
const extra: Readonly<Record<string, string>> = {
  "switch.comp": `#version 450
layout(local_size_x_id = 3, local_size_y = 2) in;
layout(constant_id = 0) const int mode = 4;
layout(constant_id = 1) const bool flip = true;
layout(constant_id = 2) const float scale = 1.5;
struct S { vec3 a; float b; mat3 m; };
layout(std140, set = 1, binding = 2) uniform U { S s[3]; layout(row_major) mat4 r; } u;
layout(std430, set = 0, binding = 5) coherent buffer B { uint count; int pad; uvec4 data[]; } b[2];
shared uint total;
float f(in float x, inout vec3 v) { v += x; return flip ? x * scale : -x; }
void main() {
  vec3 v = u.s[1].a * u.s[2].m;
  float x = f(float(gl_LocalInvocationIndex), v);
  switch (mode * 2 - 1) { case -3: x += 1.0; case 7: x *= 0.1; break; default: x = sin(x) + inversesqrt(v.y); }
  uint old = atomicAdd(b[0].count, 2u) + atomicCompSwap(total, 1u, 2u);
  barrier(); memoryBarrierShared();
  for (int i = 0; i < int(b[1].data.length()); i++) { if (i == 9) continue; if (i > 40) break; b[1].data[i].y ^= old; }
  b[0].data[gl_WorkGroupID.x] = uvec4(packHalf2x16(v.xy), floatBitsToUint(x), bitfieldExtract(old, 3, 5), uint(u.r[1][2]));
}`,
  "wide.comp": `#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D img;
layout(set = 0, binding = 1) uniform sampler2D tex;
layout(set = 0, binding = 2) buffer D { double d[]; };
void main() {
  d[0] = d[1] * 1e-310LF + 3.25LF;
  float inf = 1.0 / 0.0; float tiny = 1e-42;
  imageStore(img, ivec2(gl_GlobalInvocationID.xy), textureLod(tex, vec2(0.5, inf * tiny), 2.0));
}`,
  "plain.vert": `#version 450
layout(location = 0) in vec4 p; layout(location = 1) flat out ivec2 q; out gl_PerVertex { vec4 gl_Position; };
void main() { gl_Position = p; q = ivec2(p.xy); }`,
  "plain.frag": `#version 450
layout(location = 0) in vec2 uv; layout(location = 0) out vec4 c; layout(binding = 0) uniform sampler2D t;
void main() { if (uv.x < 0.0) discard; c = texture(t, uv) + dFdx(uv.x); }`,
};

const plain = ["--target-env", "vulkan1.1"];
const debug = ["--target-env", "vulkan1.3", "-g"];

/** Modules that glslang makes: the six kernels and the sources above, plain and with debug information. */
export function glslangModules(variants: "both" | "debug" = "both"): { name: string; words: Uint32Array }[] {
  return withFolder((folder) => {
    const sources = readdirSync(kernels)
      .filter((name) => name.endsWith(".comp"))
      .map((name): [string, string] => [name, readFileSync(new URL(name, kernels), "utf8")]);
    const modules: { name: string; words: Uint32Array }[] = [];
    for (const [name, text] of [...sources, ...Object.entries(extra)]) {
      writeFileSync(join(folder, name), text);
      for (const flags of variants === "both" ? [plain, debug] : [debug]) {
        const out = join(folder, "out.spv");
        const done = runOracle("glslangValidator", ["-V", ...flags, "-o", out, join(folder, name)]);
        if (done.status !== 0) throw new Error(`${name}: ${done.stdout}`);
        modules.push({ name: `${name} ${flags.join(" ")}`, words: readWords(out) });
      }
    }
    return modules;
  });
}
