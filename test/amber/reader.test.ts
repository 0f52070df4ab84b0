import { describe, expect, it } from "vitest";
import { readScript, type Script, ScriptError } from "../../src/amber/index.ts";

const read = (text: string, file = "script.amber"): Script =>
  readScript(file, text, (name) => {
    throw Object.assign(new Error(name), { code: "ENOENT" });
  });

function mistake(text: string): [number, string] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ScriptError) return [error.line, error.message];
    throw error;
  }
  throw new Error("the script was accepted");
}

const shader = "SHADER compute s GLSL\n#version 450\nvoid main() {}\nEND\n";
const buffer = "BUFFER b DATA_TYPE uint32 SIZE 4 FILL 0\n";

describe("malformed AmberScripts are refused at their line", () => {
  it.each<[string, string, number, RegExp]>([
    ["an unknown command", "#!amber\n\nFROBNICATE x\n", 3, /no command FROBNICATE/],
    ["a shader without END", "#!amber\nSHADER compute s GLSL\nvoid main() {}\n", 2, /no end/],
    ["an unknown shader type", "#!amber\nSHADER mesh s GLSL\nEND\n", 2, /mesh is no shader type/],
    ["an unknown data type", "#!amber\n# note\nBUFFER b DATA_TYPE vec5<float> SIZE 1 FILL 0\n", 3, /no type vec5/],
    ["a buffer without a size", "#!amber\nBUFFER b DATA_TYPE float FILL 0\n", 2, /no SIZE/],
    ["data that is no number", "#!amber\nBUFFER b DATA_TYPE int32 DATA\n1\ntwo\nEND\n", 4, /two is no number/],
    [
      "data too large for its type",
      "#!amber\nBUFFER b DATA_TYPE int8 DATA\n1\n300\nEND\n",
      4,
      /300 does not fit 8 bits/,
    ],
    ["a second buffer of a name", `#!amber\n${buffer}${buffer}`, 3, /there is a buffer b already/],
    ["a pipeline without a shader", "#!amber\nPIPELINE compute p\nEND\n", 2, /no compute shader/],
    ["an unknown shader", "#!amber\nPIPELINE compute p\n  ATTACH nothing\nEND\n", 3, /no shader nothing/],
    ["a pipeline without END", `#!amber\n${shader}PIPELINE compute p\n  ATTACH s\n`, 6, /no END/],
    [
      "a dynamic buffer without OFFSET",
      `#!amber\n${shader}${buffer}PIPELINE compute p\n  ATTACH s\n  BIND BUFFER b AS storage_dynamic DESCRIPTOR_SET 0 BINDING 0\nEND\n`,
      9,
      /needs an OFFSET/,
    ],
    ["a run of an unknown pipeline", "#!amber\nRUN p 1 1 1\n", 2, /no pipeline p/],
    ["a run without counts", `#!amber\n${shader}PIPELINE compute p\n ATTACH s\nEND\nRUN p 1 1\n`, 9, /missing number/],
    ["too many words", `#!amber\n${shader}PIPELINE compute p\n ATTACH s\nEND\nRUN p 1 1 1 1\n`, 9, /extra word 1/],
    ["an expectation of nothing", `#!amber\n${buffer}EXPECT b IDX 0 EQ\n`, 3, /without values/],
    ["an unknown comparator", `#!amber\n${buffer}EXPECT b IDX 0 ABOUT 5\n`, 3, /ABOUT is no comparator/],
    ["a tolerance on LT", `#!amber\n${buffer}EXPECT b IDX 0 TOLERANCE 1 LT 5\n`, 3, /TOLERANCE with LT/],
    ["an expectation against itself", `#!amber\n${buffer}EXPECT b EQ_BUFFER b\n`, 3, /against itself/],
    ["declarations inside REPEAT", `#!amber\nREPEAT 2\n${buffer}END\n`, 3, /BUFFER inside REPEAT/],
    ["an unknown feature", "#!amber\nDEVICE_FEATURE wishes\n", 2, /no device feature wishes/],
    ["a file that is not there", "#!amber\nSHADER compute s SPIRV-BIN FILE gone.spv\n", 2, /gone\.spv: ENOENT/],
    ["a continued line", "#!amber\nBUFFER b DATA_TYPE \\\n  float \\\n  SIZE none FILL 0\n", 4, /none is no size/],
  ])("%s", (_name, text, line, message) => {
    const [at, what] = mistake(text);
    expect(what).toMatch(message);
    expect(at).toBe(line);
  });
});

it.each(["", "#!amber", "#!amber\r\n\r\n", "\n  \n# nothing\n"])("an empty script is none: %j", (text) => {
  for (const file of ["s.amber", "s.vkscript"]) expect(() => read(text, file)).toThrow(/the script is empty/);
});

describe("malformed VkScripts are refused at their line", () => {
  it.each<[string, string, number, RegExp]>([
    ["text before a section", "compute 1 1 1\n", 1, /expected a section/],
    ["an unknown section", "[tests]\n", 1, /no section/],
    ["an unknown command", "[test]\n\nfrobnicate\n", 3, /no command frobnicate/],
    ["a dispatch without a shader", "[test]\ncompute 1 1 1\n", 2, /no compute shader/],
    ["too few values", "[test]\nssbo 0 subdata vec3 0 1 2\n", 2, /2 values for elements of 3/],
    ["a binding of two kinds", "[test]\nssbo 0 16\nuniform ubo 0 int 0 1\n", 3, /storage buffer/],
    ["an unknown comparison", "[test]\nssbo 0 16\nprobe ssbo int 0 0 = 1\n", 3, /no comparison =/],
  ])("%s", (_name, text, line, message) => {
    const [at, what] = mistake(text);
    expect(what).toMatch(message);
    expect(at).toBe(line);
  });
});

describe("what cannot run here", () => {
  it.each([
    ["#!amber\nSHADER compute s HLSL\nEND\n", 2, /HLSL/],
    ["#!amber\nPIPELINE graphics p\nEND\n", 2, /graphics pipelines/],
    ["#!amber\n\nDEVICE_FEATURE geometryShader\n", 3, /geometryShader/],
    ["#!amber\nDEVICE_EXTENSION VK_KHR_ray_query\n", 2, /VK_KHR_ray_query/],
    ["#!amber\nSAMPLER s MAG_FILTER linear\n", 2, /samplers/],
    ["[vertex shader passthrough]\n[test]\nclear\n", 1, /vertex shaders/],
  ])("%j", (text, line, reason) => {
    const { unsupported } = read(text);
    expect(unsupported?.line).toBe(line);
    expect(unsupported?.reason).toMatch(reason);
  });

  it.each<[string, string, RegExp]>([
    [
      "a color with its tolerance behind it",
      "EXPECT f IDX 0 0 SIZE 1 1 EQ_RGBA 1 2 3 4 TOLERANCE 1 0 5% 1\n",
      /graphics/,
    ],
    ["samples behind the extent", "IMAGE i FORMAT R8_UNORM DIM_2D WIDTH 2 HEIGHT 2 SAMPLES 4\n", /graphics/],
    ["unused bits before the depth", "BUFFER d FORMAT X8_D24_UNORM_PACK32\n", /graphics/],
    ["texels whose low bits count", "IMAGE i FORMAT R8_SRGB DIM_1D WIDTH 2 DATA 272 -1 END\n", /graphics/],
  ])("is read whole: %s", (_name, text, reason) => {
    const before = "#!amber\nBUFFER f FORMAT R8G8B8A8_UNORM\nPIPELINE graphics p\nEND\n";
    expect(read(before + text).unsupported?.reason).toMatch(reason);
  });

  it("is no excuse for a mistake in it", () => {
    expect(mistake("#!amber\nIMAGE i FORMAT R8_UNORM DIM_1D WIDTH 2 SAMPLES 3\n")).toEqual([
      2,
      "3 is no number of samples",
    ]);
    expect(mistake(`#!amber\n${buffer}EXPECT b IDX 0 EQ 5 TOLERANCE 1\n`)).toEqual([
      3,
      "extra word TOLERANCE after EXPECT",
    ]);
    expect(mistake(`#!amber\n${buffer}EXPECT b IDX 0 0 EQ_RGB 1 2 3 TOLERANCE\n`)[1]).toMatch(/0 tolerances/);
  });

  it("is no excuse for a mistake further down", () => {
    expect(mistake("#!amber\nPIPELINE graphics p\nEND\nRUN q 1 1 1\n")).toEqual([4, "there is no pipeline q"]);
  });
});

describe("shader text", () => {
  it("keeps the script's line numbers, whatever stands in it", () => {
    const { commands } = read(
      `#!amber\n${shader.replace("{}", '{ /* # "END */ }')}PIPELINE compute p\n ATTACH s\nEND\nRUN p 1 2 3\n`,
    );
    const [run] = commands;
    if (run?.does !== "dispatch") throw new Error("no dispatch");
    expect(run.groups).toEqual([1, 2, 3]);
    expect(run.pipeline.attachments[0]?.shader.source?.split("\n")[2]).toBe("#version 450");
  });
});
