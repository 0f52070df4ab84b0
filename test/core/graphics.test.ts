import { beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest, readCodeObject } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { opName } from "../../src/spirv/index.ts";

describe("vertex and fragment stages", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true, opName });
  });

  function compile(stage: "vertex" | "fragment" | "compute", source: string, extra: Partial<CompileRequest> = {}) {
    const done = compileShader({ ...defaultRequest, language: "glsl", stage, source, ...extra }, core);
    if (!done.ok) throw new Error(JSON.stringify(done.diagnostics));
    const read = readCodeObject(done.record.elf);
    if (!read.ok) throw new Error(read.message);
    const [entry] = read.object.entries;
    if (entry === undefined) throw new Error("no entry");
    const lines = disassemble(entry.code).map((line) => line.text);
    return { lines, entry, reflection: done.record.reflection, stats: done.record.stats };
  }
  const matching = (lines: readonly string[], pattern: RegExp): string[] => lines.filter((line) => pattern.test(line));

  it("packs a float colour to halves and ends with done and vm", () => {
    const { lines, entry } = compile(
      "fragment",
      "#version 450\nlayout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { o = c; }",
    );
    expect(matching(lines, /^exp/)).toEqual([expect.stringMatching(/^exp mrt0 (v\d+), \1, (v\d+), \2 done compr vm$/)]);
    expect(matching(lines, /^v_interp_p1/).length).toBe(4);
    expect(lines[0]).toMatch(/^s_mov_b32 m0, s\d+$/);
    // SPI_SHADER_COL_FORMAT: 4 is FP16_ABGR; SPI_PS_INPUT_ADDR: bit 1, perspective centre.
    expect(entry.graphicsRegisters?.get(0x28714)).toBe(4);
    expect(entry.graphicsRegisters?.get(0x286d0)).toBe(2);
  });

  it("exports colours in the formats of the pipeline state", () => {
    const { lines, entry } = compile(
      "fragment",
      "#version 450\nlayout(location=0) out vec4 a; layout(location=2) out uvec4 b; layout(location=3) out float c; void main() { a = gl_FragCoord; b = uvec4(gl_FragCoord); c = gl_FragCoord.x; }",
      {
        pipeline: {
          colorFormats: [
            { location: 0, format: "R16G16B16A16_UNORM" },
            { location: 2, format: "R8G8B8A8_UINT" },
            { location: 3, format: "R32_SFLOAT" },
          ],
        },
      },
    );
    const exports = matching(lines, /^exp/);
    expect(exports.length).toBe(3);
    expect(exports[0]).toMatch(/^exp mrt0 .* compr$/);
    expect(exports[1]).toMatch(/^exp mrt2 .* compr$/);
    expect(exports[2]).toMatch(/^exp mrt3 v\d+, off, off, off done vm$/);
    expect(matching(lines, /^v_cvt_pknorm_u16_f32/).length).toBe(2);
    expect(matching(lines, /^v_cvt_pk_u16_u32/).length).toBe(2);
    // 5 UNORM16, 7 UINT16, 1 32_R
    expect(entry.graphicsRegisters?.get(0x28714)).toBe(5 | (7 << 8) | (1 << 12));
    expect(entry.graphicsRegisters?.get(0x2823c)).toBe(0xff0f);
  });

  it("interpolates at the centroid and at an offset that the quad's neighbours give", () => {
    const source = (expression: string) =>
      `#version 450\nlayout(location=0) in float c; layout(location=1) in vec2 p; layout(location=0) out vec4 o; void main() { o = vec4(${expression}); }`;
    const centroid = compile("fragment", source("interpolateAtCentroid(c)"));
    // SPI_PS_INPUT_ADDR: bit 2, perspective centroid.
    expect(centroid.entry.graphicsRegisters?.get(0x286d0)).toBe(4);
    expect(matching(centroid.lines, /^v_interp_p1/).length).toBe(1);
    const offset = compile("fragment", source("interpolateAtOffset(c, p * 0.0 + vec2(0.25, -0.25))"));
    expect(offset.entry.graphicsRegisters?.get(0x286d0)).toBe(2);
    // The ends of two differences for each of i and j.
    expect(matching(offset.lines, /quad_perm/).length).toBe(8);
  });

  it("subtracts lanes of the quad through DPP, one move for both directions", () => {
    const head = "#version 450\nlayout(location=0) in vec2 u; layout(location=0) out vec4 o; void main() { o = vec4(";
    const both = compile("fragment", `${head}dFdx(u.x), dFdy(u.x), 0, 0); }`).lines;
    const dpp = matching(both, /_dpp/).map((line) => line.replace(/ row_mask.*/, ""));
    const [, corner] = /^v_mov_b32_dpp (v\d+), v\d+ quad_perm:\[0,0,0,0\]$/.exec(dpp[0] ?? "") ?? [];
    expect(dpp.slice(1).map((line) => line.replace(/^(\S+) v\d+, v\d+, /, "$1 "))).toEqual([
      `v_sub_f32_dpp ${corner} quad_perm:[1,1,1,1]`,
      `v_sub_f32_dpp ${corner} quad_perm:[2,2,2,2]`,
    ]);
    // The absolute value of a source stays in the dword of DPP; an exchanged subtraction where the lane is the second source.
    const fine = compile(
      "fragment",
      `${head}abs(u.x) - subgroupQuadSwapHorizontal(u.y)); }`.replace(
        "layout",
        "#extension GL_KHR_shader_subgroup_quad : require\nlayout",
      ),
      { pipeline: {} },
    ).lines;
    expect(matching(fine, /_dpp/)).toEqual([
      expect.stringMatching(/^v_subrev_f32_dpp v\d+, v\d+, \|v\d+\| quad_perm:\[1,0,3,2\] /),
    ]);
    expect(matching(fine, /v_and/)).toEqual([]);
  });

  it("shuffles by xor go through DPP within a row, and by v_permlanex16 to the other row", () => {
    const { lines } = compile(
      "compute",
      `#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x=32) in; layout(binding=0) buffer B { float b[]; };
void main() { float x = b[gl_LocalInvocationIndex]; x = max(x, subgroupShuffleXor(x, 4u)); b[gl_LocalInvocationIndex] = x - subgroupShuffleXor(x, 17u); }`,
    );
    expect(matching(lines, /_dpp/)).toEqual([expect.stringMatching(/^v_max_f32_dpp v\d+, (v\d+), \1 row_xmask:4 /)]);
    // Lane l of the other row is l ^ 1: a nibble each.
    expect(lines.filter((line) => /0x67452301|0xefcdab89/.test(line)).length).toBe(2);
    expect(matching(lines, /^v_permlanex16_b32/).length).toBe(1);
    expect(matching(lines, /^ds_/)).toEqual([]);
  });

  it("asks images and texel buffers for the components that are read", () => {
    const { lines } = compile(
      "fragment",
      `#version 450
layout(location=0) in vec2 u; layout(location=0) out vec4 o; layout(binding=0) uniform sampler2D t;
layout(binding=1) uniform samplerBuffer b; layout(binding=2) uniform sampler2DShadow s; layout(binding=3, rgba32f) uniform readonly image2D i;
void main() {
  vec4 a = texture(t, u);
  o = vec4(a.y + a.w, texelFetch(b, int(u.x)).y, imageLoad(i, ivec2(u)).z, textureGather(t, u, 1).w);
}`,
    );
    const accesses = matching(lines, /^image_|^buffer_load/);
    expect(accesses.map((line) => line.replace(/,.*?( dmask:\S+|$).*/, "$1")).sort()).toEqual([
      expect.stringMatching(/^buffer_load_format_xy v\[\d+:\d+\]$/),
      expect.stringMatching(/^image_gather4_lz v\[\d+:\d+\] dmask:0x2$/),
      expect.stringMatching(/^image_load v\d+ dmask:0x4$/),
      expect.stringMatching(/^image_sample v\[\d+:\d+\] dmask:0xa$/),
    ]);
  });

  it("names the registers of an address one by one where that saves moves", () => {
    const head =
      "#version 450\nlayout(location=0) in vec4 u; layout(location=0) out vec4 o; layout(binding=0) uniform sampler2D t; layout(binding=1) uniform sampler3D d; layout(binding=2, rgba8) uniform image3D i; void main() { ";
    const accesses = (body: string) => {
      const { lines } = compile("fragment", `${head}${body} }`);
      return {
        images: matching(lines, /^image_/),
        moves: matching(lines, /^v_mov_b32_e32 v\d+, v\d+$|^v_lshrrev_b64/),
      };
    };
    // Both orders of two coordinates cannot be neighbours at once.
    const both = accesses("o = texture(t, u.xy) + texture(t, u.yx);");
    expect(both.moves).toEqual([]);
    expect(both.images.map((line) => /\[v\d+, v\d+\]/.test(line)).filter(Boolean).length).toBe(1);
    // An image that is loaded from has no sampler: room for three.
    const three = accesses("ivec3 p = ivec3(u); o = imageLoad(i, p) + imageLoad(i, p.zxy) + imageLoad(i, p.zyx);");
    expect(three.moves).toEqual([]);
    expect(three.images.filter((line) => /\[v\d+, v\d+, v\d+\]/.test(line)).length).toBeGreaterThan(1);
    // Two components of a texel are an address where they stand.
    const chained = accesses("o = texture(t, texture(t, u.xy).zw);");
    expect(chained.moves).toEqual([]);
    expect(chained.images[1]).toMatch(/^image_sample v\[\d+:\d+\], v\[\d+:\d+\], /);
    // What nobody else reads is computed side by side.
    expect(accesses("o = texture(d, u.xyz * 2.0);").images[0]).toMatch(/^image_sample v\[\d+:\d+\], v\[\d+:\d+\], /);
  });

  it("interpolates at the sample in the centre, the only one, whatever the input is declared", () => {
    const { lines, entry } = compile(
      "fragment",
      "#version 450\nlayout(location=0) centroid in float c; layout(location=1) flat in int n; layout(location=0) out vec4 o; void main() { o = vec4(interpolateAtSample(c, n)); }",
    );
    expect(entry.graphicsRegisters?.get(0x286d0)).toBe(2);
    expect(matching(lines, /^v_interp_p1/).length).toBe(1);
  });

  it("depth coverage after the early tests", () => {
    const { entry } = compile(
      "fragment",
      "#version 450\n#extension GL_ARB_post_depth_coverage : require\nlayout(post_depth_coverage) in; layout(location=0) out vec4 o; void main() { o = vec4(gl_SampleMaskIn[0]); }",
    );
    // DB_SHADER_CONTROL: PRE_SHADER_DEPTH_COVERAGE_ENABLE is bit 23, DEPTH_BEFORE_SHADER bit 12.
    expect((entry.graphicsRegisters?.get(0x2880c) ?? 0) & 0x801000).toBe(0x801000);
  });

  it("tests come late where stores count whatever they say, and early else", () => {
    const control = (globals: string, body: string) =>
      (compile(
        "fragment",
        `#version 450\n${globals} layout(location=0) out vec4 o; layout(binding=0) buffer B { float b[]; }; void main() { o = vec4(1.0); ${body} }`,
      ).entry.graphicsRegisters?.get(0x2880c) ?? 0) & 0x1630;
    // DB_SHADER_CONTROL: Z_ORDER [5:4] (0 late, 1 early then late), EXEC_ON_HIER_FAIL 9, EXEC_ON_NOOP 10, DEPTH_BEFORE_SHADER 12.
    expect(control("", "")).toBe(0x10);
    expect(control("", "if (b[0] < 1.0) discard;")).toBe(0x10);
    expect(control("", "gl_FragDepth = 0.5;")).toBe(0x10);
    expect(control("", "b[0] = 2.0;")).toBe(0x600);
    expect(control("layout(early_fragment_tests) in;", "b[0] = 2.0;")).toBe(0x1410);
    expect(control("layout(early_fragment_tests) in;", "")).toBe(0x1010);
  });

  it("a depth that stays on one side of the primitive's leaves the early test its refusals", () => {
    const conservative = (layout: string, body: string) =>
      ((compile(
        "fragment",
        `#version 450\n${layout} layout(location=0) in float x; layout(location=0) out vec4 o; void main() { o = vec4(x); ${body} }`,
      ).entry.graphicsRegisters?.get(0x2880c) ?? 0) >>
        13) &
      3;
    // DB_SHADER_CONTROL.CONSERVATIVE_Z_EXPORT: 0 any, 1 less than Z, 2 greater than Z.
    const depth = "gl_FragDepth = x;";
    expect(conservative("layout(depth_greater) out float gl_FragDepth;", depth)).toBe(2);
    expect(conservative("layout(depth_less) out float gl_FragDepth;", depth)).toBe(1);
    expect(conservative("layout(depth_any) out float gl_FragDepth;", depth)).toBe(0);
    expect(conservative("", depth)).toBe(0);
    // Nothing is exported.
    expect(conservative("layout(depth_less) out float gl_FragDepth;", "")).toBe(0);
  });

  it("a fragment stage reads 32 attributes, each with its register", () => {
    const registers = (count: number) => {
      const each = Array.from({ length: count }, (_, k) => `layout(location=${k}) in float v${k};`);
      const sum = each.map((_, k) => `v${k}`).join(" + ");
      return compile(
        "fragment",
        `#version 450\n${each.join("\n")}\nlayout(location=0) out vec4 o; void main() { o = vec4(${sum}); }`,
      ).entry.graphicsRegisters;
    };
    // SPI_PS_INPUT_CNTL_0 to _31 are 0x28644 to 0x286c0, behind them is SPI_VS_OUT_CONFIG; SPI_PS_IN_CONTROL: NUM_INTERP [5:0].
    for (const count of [31, 32]) {
      const found = registers(count);
      const controls = Array.from({ length: 64 }, (_, k) => found?.get(0x28644 + 4 * k));
      expect(controls.slice(0, 32)).toEqual(Array.from({ length: 32 }, (_, k) => (k < count ? k : undefined)));
      expect(found?.get(0x286c4)).toBeUndefined();
      expect((found?.get(0x286d8) ?? 0) & 63).toBe(count);
    }
  });

  it("a fragment shader that writes nothing ends with a null export", () => {
    const { lines } = compile("fragment", "#version 450\nvoid main() { }");
    expect(lines).toEqual(["exp null off, off, off, off done vm", "s_endpgm"]);
  });

  it("discard takes lanes out of the pixel mask, which stores and exports go by", () => {
    const { lines, entry } = compile(
      "fragment",
      "#version 450\nlayout(location=0) in vec2 u; layout(location=0) out vec4 o; layout(binding=0) buffer B { float b[]; };\nvoid main() { if (u.x < 0.0) discard; b[0] = u.y; o = vec4(dFdx(u.x)); }",
    );
    const live = /^s_mov_b32 (s\d+), exec_lo$/.exec(lines.find((l) => /^s_mov_b32 s\d+, exec_lo$/.test(l)) ?? "")?.[1];
    expect(live).toBeDefined();
    expect(lines).toContain("s_wqm_b32 exec_lo, exec_lo");
    // All lanes come to the condition: it takes them out as it is.
    expect(matching(lines, new RegExp(`^s_andn2_b32 ${live}, ${live}, (vcc_lo|s\\d+)$`)).length).toBe(1);
    const store = lines.findIndex((l) => l.startsWith("buffer_store"));
    const masked = lines.lastIndexOf(`s_and_b32 exec_lo, exec_lo, ${live}`, store);
    expect(masked).toBeGreaterThan(0);
    // The derivative is of whole quads: EXEC is widened again between the store and it, or it stands before.
    const exportAt = lines.findIndex((l) => l.startsWith("exp"));
    expect(lines.lastIndexOf(`s_mov_b32 exec_lo, ${live}`, exportAt)).toBeGreaterThan(
      lines.findLastIndex((l) => l.includes("_dpp")),
    );
    // DB_SHADER_CONTROL.KILL_ENABLE
    expect((entry.graphicsRegisters?.get(0x2880c) ?? 0) & 64).toBe(64);
  });

  it("quads whose pixels are all discarded go, and so do waves, where memory or images come later", () => {
    const head =
      "#version 450\n#extension GL_KHR_shader_subgroup_ballot : require\nlayout(location=0) in vec2 u; layout(location=0) out vec4 o; layout(binding=0) uniform sampler2D t; layout(binding=1) readonly buffer B { vec4 b[]; }; void main() { ";
    const sampled = compile("fragment", `${head}if (u.x < 0.3) discard; o = texture(t, u); }`).lines;
    const live = /^s_mov_b32 (s\d+), exec_lo$/.exec(matching(sampled, /^s_mov_b32 s\d+, exec_lo$/)[0] ?? "")?.[1];
    const wqm = sampled.indexOf(`s_wqm_b32 exec_lo, ${live}`);
    expect(sampled[wqm + 1]).toMatch(/^s_cbranch_execz /);
    expect(wqm).toBeLessThan(sampled.findIndex((line) => line.startsWith("image_sample")));
    expect(sampled.slice(-3)).toEqual(["s_endpgm", "exp null off, off, off, off done vm", "s_endpgm"]);
    // Behind a branch of some lanes they meet again first.
    const branch = "float k = 1.0; if (u.x < 0.3) { k = b[3].x; if (k < 0.5) discard; }";
    const met = compile("fragment", `${head}${branch} o = texture(t, u) * k + b[int(u.y)]; }`).lines;
    expect(matching(met, /^s_wqm_b32 exec_lo, s/).length).toBe(1);
    expect(matching(met, /^exp null/).length).toBe(1);
    // Nobody asks for helpers: discarded lanes end, a wave of them too before it loads.
    const loaded = compile("fragment", `${head}if (u.x < 0.3) discard; o = b[int(u.x)]; }`).lines;
    const gone = loaded.findIndex((line) => /^s_andn2_b32 exec_lo, exec_lo, /.test(line));
    expect(loaded[gone + 1]).toMatch(/^s_cbranch_execz /);
    expect(matching(loaded, /^s_wqm/)).toEqual([]);
    // Only arithmetic follows; or other lanes see who is there, so that EXEC stays.
    const last = compile("fragment", `${head}o = texture(t, u); if (o.w < 0.5) discard; }`).lines;
    expect(matching(last, /^s_cbranch|^exp null/)).toEqual([]);
    const seen = compile(
      "fragment",
      `${head}o = texture(t, u); if (o.w < 0.5) discard; o += texture(t, u.yx) + float(subgroupBallot(true).x); }`,
    ).lines;
    expect(matching(seen, /^s_wqm_b32 exec_lo, s/)).toEqual([]);
  });

  it("discard ends lanes where nothing is asked of helpers; their mask is EXEC", () => {
    const head = "#version 450\nlayout(location=0) in vec2 u; layout(location=0) out vec4 o;";
    const { lines, entry } = compile(
      "fragment",
      `${head} void main() { if (u.x < 0.0) discard; if (u.y < 2.0) discard; o = u.xyxy; }`,
    );
    expect(matching(lines, /exec/)).toEqual([
      expect.stringMatching(/^s_andn2_b32 exec_lo, exec_lo, (vcc_lo|s\d+)$/),
      expect.stringMatching(/^s_andn2_b32 exec_lo, exec_lo, (vcc_lo|s\d+)$/),
    ]);
    expect((entry.graphicsRegisters?.get(0x2880c) ?? 0) & 64).toBe(64);
    const behind = (body: string, binding = "") =>
      compile("fragment", `${head}${binding} void main() { ${body} }`).lines;
    // A loop behind it, and a load by an index that lanes differ in, must not run on what no lane has made.
    const next = (l: readonly string[]) => l[l.findIndex((line) => /^s_andn2_b32 exec_lo, exec_lo, /.test(line)) + 1];
    const loop = behind("if (u.x < 0.0) discard; float s = 0.0; while (s < u.y) s += u.x; o = vec4(s);");
    expect(next(loop)).toMatch(/^s_cbranch_execz /);
    const binding = " layout(binding=0) uniform B { vec4 b[4]; };";
    const load = behind("if (u.x < 0.0) discard; o = b[int(u.y)];", binding);
    expect(next(load)).toMatch(/^s_cbranch_execz /);
  });

  it("a function that discards ends its callers too", () => {
    const { lines } = compile(
      "fragment",
      "#version 450\nlayout(location=0) in float u; layout(location=0) out vec4 o; layout(binding=0) buffer B { uint n; };\nvoid f() { if (u < 0.5) discard; } void main() { for (;;) { f(); if (n++ > 5u) break; } o = vec4(1.0); }",
    );
    // The loop has an exit for lanes that f has ended: without it they would go round with a store that does nothing.
    expect(lines.some((l) => l.startsWith("s_cbranch"))).toBe(true);
    expect(lines.some((l) => /^s_andn2_b32 (s\d+), \1, exec_lo$/.test(l))).toBe(true);
  });

  it("depth, stencil formats: mrtz comes first", () => {
    const { lines, entry } = compile(
      "fragment",
      "#version 450\nlayout(location=0) out vec4 o; void main() { gl_FragDepth = gl_FragCoord.x; o = vec4(0.5); }",
    );
    expect(matching(lines, /^exp/)[0]).toMatch(/^exp mrtz v\d+, off, off, off$/);
    expect(entry.graphicsRegisters?.get(0x28710)).toBe(1);
    expect((entry.graphicsRegisters?.get(0x2880c) ?? 0) & 1).toBe(1);
  });

  it("flat, centroid, sample and linear inputs take their own i and j", () => {
    const { lines, entry, reflection } = compile(
      "fragment",
      "#version 450\nlayout(location=5) flat in int a; layout(location=1) centroid in float b; layout(location=2) noperspective in float c; layout(location=0) out vec4 o; void main() { o = vec4(a, b, c, 1); }",
    );
    // Bits: 2 perspective centroid, 5 linear centre. Attributes by location: b 0, c 1, a 2.
    expect(entry.graphicsRegisters?.get(0x286d0)).toBe((1 << 2) | (1 << 5));
    expect(matching(lines, /^v_interp_mov/)).toEqual([
      expect.stringMatching(/^v_interp_mov_f32_e32 v\d+, p0, attr2\.x$/),
    ]);
    expect(matching(lines, /^v_interp_p1/).map((l) => l.replace(/ v\d+,/, " d,"))).toEqual([
      "v_interp_p1_f32_e32 d, v0, attr0.x",
      "v_interp_p1_f32_e32 d, v2, attr1.x",
    ]);
    expect(reflection.interface?.inputs).toEqual([
      { location: 1, flat: false },
      { location: 2, flat: false },
      { location: 5, flat: true },
    ]);
  });

  it("a vertex shader fetches by the pipeline state and exports position and parameters", () => {
    const source =
      "#version 450\nlayout(location=0) in vec4 p; layout(location=3) in vec2 t; layout(location=7) out vec2 u; layout(location=1) flat out int n; void main() { gl_Position = p; u = t; n = gl_InstanceIndex; }";
    const { lines, entry, reflection } = compile("vertex", source, {
      pipeline: {
        vertexInput: {
          attributes: [
            { location: 0, format: "R16G16_SFLOAT", binding: 2, offset: 4 },
            { location: 3, format: "R8G8_UNORM", binding: 1, offset: 0 },
          ],
          bindings: [{ binding: 1, rate: "instance", divisor: 1 }],
        },
      },
    });
    // Buffer formats 29 16_16_FLOAT, 14 8_8_UNORM.
    expect(matching(lines, /^tbuffer/).map((l) => l.replace(/v\[\d+:\d+\], v\d+, s\[\d+:\d+\]/, "d, i, r"))).toEqual([
      "tbuffer_load_format_xy d, i, r, 0 format:29 idxen offset:4",
      "tbuffer_load_format_xy d, i, r, 0 format:14 idxen",
    ]);
    const exports = matching(lines, /^exp/);
    expect(exports[0]).toMatch(/^exp pos0 v\d+, v\d+, v\d+, v\d+ done$/);
    // Location 1 is parameter 0, location 7 parameter 1.
    expect(exports[1]).toMatch(/^exp param0 v\d+, off, off, off$/);
    expect(exports[2]).toMatch(/^exp param1 v\d+, v\d+, off, off$/);
    expect(reflection.interface?.outputs.map((o) => o.location)).toEqual([1, 7]);
    // SPI_VS_OUT_CONFIG: two parameters, less one, from bit 1; RSRC1: VGPR_COMP_CNT 3 for the instance id.
    expect(entry.graphicsRegisters?.get(0x286c4)).toBe(1 << 1);
    expect(((entry.graphicsRegisters?.get(0xb128) ?? 0) >>> 24) & 3).toBe(3);
  });

  it("point size, layer and distances stand in the vectors behind the position", () => {
    const { lines, entry } = compile(
      "vertex",
      "#version 450\nlayout(location=0) in float x; out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[2]; float gl_CullDistance[1]; }; void main() { gl_Position = vec4(x); gl_PointSize = x; gl_ClipDistance[0] = x; gl_ClipDistance[1] = x; gl_CullDistance[0] = x; }",
    );
    const exports = matching(lines, /^exp pos/);
    expect(exports[1]).toMatch(/^exp pos1 v\d+, off, off, off$/);
    expect(exports[2]).toMatch(/^exp pos2 v\d+, v\d+, v\d+, off done$/);
    // Clip 0, 1; cull 2; point size 16; misc 21, first distance vector 22, misc side bus 24.
    expect(entry.graphicsRegisters?.get(0x2881c)).toBe(3 | (1 << 10) | (1 << 16) | (1 << 21) | (1 << 22) | (1 << 24));
  });

  it("refuses a vertex format that is none, and a location without an attribute", () => {
    const source = "#version 450\nlayout(location=0) in vec4 p; void main() { gl_Position = p; }";
    for (const attributes of [[{ location: 0, format: "R5G6B5_UNORM_PACK16", binding: 0, offset: 0 }], []]) {
      const done = compileShader(
        { ...defaultRequest, language: "glsl", stage: "vertex", source, pipeline: { vertexInput: { attributes } } },
        core,
      );
      expect(done.ok).toBe(false);
      if (!done.ok) expect(done.diagnostics.map((d) => d.code)).toContain("COMPILE_PIPELINE");
    }
  });

  const refusal = (stage: "vertex" | "fragment", source: string, extra: Partial<CompileRequest> = {}): string => {
    const done = compileShader({ ...defaultRequest, language: "glsl", stage, source, ...extra }, core);
    return done.ok ? "compiled" : done.diagnostics.map((d) => `${d.code}: ${d.message}`).join("\n");
  };

  it("the second source for blending goes to target 1 in target 0's format", () => {
    const outputs = "layout(location=0,index=0) out vec4 c; layout(location=0,index=1) out vec4 d;";
    const { lines, entry } = compile(
      "fragment",
      `#version 450\n${outputs} void main() { c = vec4(1, 0, 0, 1); d = vec4(0, 1, 0, 1); }`,
      { pipeline: { colorFormats: [{ location: 0, format: "R32G32B32A32_SFLOAT" }] } },
    );
    const exports = matching(lines, /^exp/).map((line) =>
      /^exp (mrt\d) (v\d+), (v\d+), (v\d+), (v\d+)( done vm)?$/.exec(line),
    );
    expect(exports.map((found) => [found?.[1], found?.[6]])).toEqual([
      ["mrt0", undefined],
      ["mrt1", " done vm"],
    ]);
    // Red is what green is in the other, and the other way round.
    const [first, second] = exports;
    expect([first?.[2], first?.[3], first?.[4], first?.[5]]).toEqual([
      second?.[3],
      second?.[2],
      second?.[4],
      second?.[5],
    ]);
    expect(first?.[2]).not.toBe(first?.[3]);
    // SPI_SHADER_COL_FORMAT 9, 32_ABGR, and CB_SHADER_MASK of both.
    expect(entry.graphicsRegisters?.get(0x28714)).toBe(0x99);
    expect(entry.graphicsRegisters?.get(0x2823c)).toBe(0xff);
  });

  it("a second source for blending is alone with the first one, at location 0", () => {
    const both = "layout(location=0) out vec4 c; layout(location=1) out vec4 e; layout(location=0,index=1) out vec4 d;";
    expect(refusal("fragment", `#version 450\n${both} void main() { c = d = e = gl_FragCoord; }`)).toMatch(
      /^CORE_UNSUPPORTED: an output at location 1 beside/,
    );
    const high = "layout(location=2,index=1) out vec4 d;";
    expect(refusal("fragment", `#version 450\n${high} void main() { d = gl_FragCoord; }`)).toMatch(
      /^CORE_UNSUPPORTED: an output at location 2 beside/,
    );
  });

  it("attributes have 64-bit components in shader and format, or in neither", () => {
    const of = (type: string, format: string): string => {
      const source = `#version 450\nlayout(location=1) in ${type} wide; void main() { gl_Position = vec4(vec2(wide), 0, 1); }`;
      const attributes = [{ location: 1, format, binding: 0, offset: 0 }];
      return refusal("vertex", source, { pipeline: { vertexInput: { attributes } } });
    };
    expect(of("dvec2", "R64G64_SFLOAT")).toBe("compiled");
    const start = "COMPILE_PIPELINE: pipeline state: vertex attribute wide at location 1 has";
    expect(of("dvec2", "R32G32_SFLOAT")).toBe(`${start} components of 64 bits, unlike R32G32_SFLOAT`);
    expect(of("vec2", "R64G64_SFLOAT")).toBe(`${start} no components of 64 bits, unlike R64G64_SFLOAT`);
    const colour = { pipeline: { colorFormats: [{ location: 0, format: "R64_SFLOAT" }] } };
    expect(
      refusal("fragment", "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }", colour),
    ).toBe("COMPILE_PIPELINE: pipeline state: R64_SFLOAT is no format of colour targets");
  });

  it.each([
    [
      "fragment",
      "layout(location=8) out vec4 o;",
      "o = gl_FragCoord;",
      "an output at location 8, past the last of 8 colours",
    ],
    ["fragment", "layout(location=7) out vec4 o[2];", "o[1] = gl_FragCoord;", "an output at location 8, past"],
    ["fragment", "layout(location=7) out vec4 o[2];", "o[0] = gl_FragCoord;", undefined],
    [
      "fragment",
      "layout(location=0) out vec4 o; layout(location=64) in vec4 i;",
      "o = i;",
      "an input at location 64, past",
    ],
    ["vertex", "layout(location=64) out vec4 o;", "o = gl_Position = vec4(1);", "an output at location 64, past"],
    [
      "vertex",
      "out float gl_ClipDistance[5]; out float gl_CullDistance[4];",
      "gl_ClipDistance[4] = gl_CullDistance[3] = 1.0;",
      "more than 8 clip and cull distances in all (9)",
    ],
  ] as const)("no output or input is lost in silence: %s %s", (stage, outer, inner, what) => {
    const said = refusal(stage, `#version 450\n${outer} void main() { ${inner} }`);
    if (what === undefined) expect(said).toBe("compiled");
    else expect(said).toContain(`CORE_UNSUPPORTED: ${what}`);
  });

  it.each([
    ["r8g8b8a8_unorm", "R8G8B8A8_UNORM"],
    ["VK_FORMAT_R32G32_SFLOAT", "R32G32_SFLOAT"],
    ["RGBA8_UNORM", "R8G8B8A8_UNORM"],
    ["R8G8B8A8_UNROM", "R8G8B8A8_UNORM"],
  ])("names the format that %s is spelled like", (format, near) => {
    const fragment = "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }";
    expect(refusal("fragment", fragment, { pipeline: { colorFormats: [{ location: 0, format }] } })).toBe(
      `COMPILE_PIPELINE: pipeline state: ${format} is no format of colour targets; did you mean ${near}?`,
    );
    const vertex = "#version 450\nlayout(location=0) in vec4 p; void main() { gl_Position = p; }";
    const attributes = [{ location: 0, format, binding: 0, offset: 0 }];
    expect(refusal("vertex", vertex, { pipeline: { vertexInput: { attributes } } })).toBe(
      `COMPILE_PIPELINE: pipeline state: ${format} is no format of vertices; did you mean ${near}?`,
    );
  });

  it("says nothing of formats that are spelled like no other", () => {
    const source = "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }";
    expect(refusal("fragment", source, { pipeline: { colorFormats: [{ location: 0, format: "colour" }] } })).toBe(
      "COMPILE_PIPELINE: pipeline state: colour is no format of colour targets",
    );
  });

  // Vulkan: the layer is the nearest integer of the coordinate, even where two are as near; a fetch has integers.
  it.each([
    ["sampler1DArray", "texture(s, u.xy)", 1],
    ["sampler2DArray", "texture(s, u.xyz)", 1],
    ["sampler2DArray", "textureLod(s, u.xyz, u.w)", 1],
    ["sampler2DArray", "textureGrad(s, u.xyz, u.xy, u.zw)", 1],
    ["sampler2DArray", "textureGather(s, u.xyz)", 1],
    ["sampler2DArrayShadow", "vec4(texture(s, u))", 1],
    ["samplerCubeArray", "texture(s, u)", 1],
    ["sampler2DArray", "texture(s, vec3(u.xy, floor(u.z)))", 0],
    ["sampler2DArray", "texture(s, vec3(u.xy, float(int(u.z))))", 0],
    ["sampler2DArray", "texelFetch(s, ivec3(u.xyz), 0)", 0],
    ["sampler2D", "texture(s, u.xy)", 0],
  ])("layers are rounded once: %s %s", (type, expression, count) => {
    const { lines } = compile(
      "fragment",
      `#version 450\nlayout(location=0) in vec4 u; layout(location=0) out vec4 o; layout(binding=0) uniform ${type} s; void main() { o = ${expression}; }`,
    );
    expect(matching(lines, /^v_rndne_f32/).length, lines.join("\n")).toBe(count);
  });

  const samples: readonly (readonly [string, string, string, RegExp])[] = [
    [
      "implicit LOD",
      "sampler2D",
      "texture(s, u.xy)",
      /^image_sample v\[\d+:\d+\], v\[\d+:\d+\], s\[\d+:\d+\], s\[\d+:\d+\] dmask:0xf dim:SQ_RSRC_IMG_2D$/,
    ],
    ["bias", "sampler2D", "texture(s, u.xy, u.z)", /^image_sample_b /],
    ["level", "sampler3D", "textureLod(s, u.xyz, u.w)", /^image_sample_l .*_3D$/],
    ["level 0", "sampler2D", "textureLod(s, u.xy, 0.0)", /^image_sample_lz /],
    ["gradients", "sampler2D", "textureGrad(s, u.xy, u.zw, u.yx)", /^image_sample_d /],
    ["offset", "sampler2D", "textureOffset(s, u.xy, ivec2(1, -1))", /^image_sample_o /],
    ["compare", "sampler2DShadow", "vec4(texture(s, u.xyz))", /^image_sample_c v\d+, .* dmask:0x1 /],
    ["array", "sampler2DArray", "texture(s, u.xyz)", /_2D_ARRAY$/],
    ["cube", "samplerCube", "texture(s, u.xyz)", /^image_sample .*_CUBE$/],
    ["gather", "sampler2D", "textureGather(s, u.xy, 2)", /^image_gather4_lz .* dmask:0x4 /],
    ["fetch", "sampler2D", "texelFetch(s, ivec2(u.xy), int(u.z))", /^image_load_mip .* unorm$/],
    ["multisampled fetch", "sampler2DMS", "texelFetch(s, ivec2(u.xy), 3)", /^image_load .*_2D_MSAA unorm$/],
    ["size", "sampler2D", "vec4(textureSize(s, 1), 0, 1)", /^image_get_resinfo /],
    ["texel buffer", "samplerBuffer", "texelFetch(s, int(u.x))", /^buffer_load_format_xyzw .* idxen$/],
  ];
  for (const [name, type, expression, pattern] of samples) {
    it(`images: ${name}`, () => {
      const { lines } = compile(
        "fragment",
        `#version 450\nlayout(location=0) in vec4 u; layout(location=0) out vec4 o; layout(binding=0) uniform ${type} s; void main() { o = ${expression}; }`,
      );
      expect(
        lines.some((line) => pattern.test(line)),
        lines.join("\n"),
      ).toBe(true);
    });
  }

  it("images: stores, loads and atomics of storage images; descriptors of arrays by an index that lanes differ in", () => {
    const { lines } = compile(
      "compute",
      "#version 450\n#extension GL_EXT_nonuniform_qualifier : require\nlayout(local_size_x=32) in; layout(binding=0, r32ui) uniform uimage2D i[4]; layout(binding=1, rgba8) uniform image2D j;\nvoid main() { ivec2 p = ivec2(gl_LocalInvocationID.xy); uint a = imageAtomicAdd(i[nonuniformEXT(gl_LocalInvocationID.x & 3u)], p, 1u); imageAtomicCompSwap(i[0], p, a, 2u); imageStore(j, p, imageLoad(j, p + 1)); }",
    );
    expect(matching(lines, /^image_atomic_add v\d+, .* dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc$/).length).toBe(1);
    expect(matching(lines, /^image_atomic_cmpswap v\[\d+:\d+\], .* dmask:0x3 /).length).toBe(1);
    expect(matching(lines, /^image_store v\[\d+:\d+\], .* dmask:0xf /).length).toBe(1);
    // One trip a distinct index.
    expect(lines.some((l) => l.startsWith("s_cbranch_execnz"))).toBe(true);
  });
});
