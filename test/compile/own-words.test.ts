import { describe, expect, it } from "vitest";
import { Bug } from "../../src/base/index.ts";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { ownMistake } from "../../src/compile/to-spirv.ts";
import type { Core, CoreRequest } from "../../src/core/index.ts";
import { compileGlsl } from "../../src/glsl/index.ts";
import { Op, ownModule } from "../../src/spirv/index.ts";

const source = `#version 450
layout(local_size_x = 32) in;
layout(binding = 0) buffer X { uint x[]; };
void main() { x[gl_LocalInvocationIndex] = 7u; }
`;
const request: CompileRequest = { ...defaultRequest, language: "glsl", stage: "compute", source };

const unlinked = {
  checked: false,
  linkFacts: () => {
    throw new Error("nothing is linked");
  },
};

function wordsOfSource(): Uint32Array {
  const compiled = compileGlsl({ source, filename: "shader", stage: "compute", targetEnv: "vulkan1.3" });
  if (!compiled.ok) throw new Error("the source is right");
  return compiled.words.slice();
}

/** The words with the first OpStore's value taken from its pointer: a type that does not fit. */
function broken(): Uint32Array {
  const words = wordsOfSource();
  for (let at = 5; at < words.length; at += words[at]! >>> 16) {
    if ((words[at]! & 0xffff) === Op.OpStore) words[at + 2] = words[at + 1]!;
  }
  return words;
}

describe("words of our own front end", () => {
  it("are not looked at as long as the core takes them, and are where it fails: its own trap stays", () => {
    let asked: CoreRequest | undefined;
    const trapping: Core = {
      ...unlinked,
      compile(wanted) {
        asked = wanted;
        throw new Bug("core: unreachable");
      },
    };
    expect(() => compileShader(request, trapping)).toThrow("core: unreachable");
    expect(asked?.words).toEqual(wordsOfSource());
  });

  it("that the validator has something against make a Bug with its words", () => {
    expect(ownMistake(ownModule(wordsOfSource(), "shader"), request)).toBeUndefined();
    const mistake = ownMistake(ownModule(broken(), "shader"), request);
    expect(mistake).toBeInstanceOf(Bug);
    expect(mistake?.message).toMatch(/the front end's SPIR-V is not valid: line 4: SPIRV_TYPE: OpStore/);
    // cut off in the middle of an instruction
    expect(ownMistake(ownModule(wordsOfSource().slice(0, -2), "shader"), request)?.message).toContain("SPIRV_");
  });

  it("that are right and refused by the core leave its refusal as it is", () => {
    const failure = { code: "CORE_LIMIT", message: "too large", fileId: 0, line: 0, column: 0 };
    const refusing: Core = { ...unlinked, compile: () => ({ ok: false, failures: [failure] }) };
    const outcome = compileShader(request, refusing);
    expect(outcome).toMatchObject({ ok: false, diagnostics: [{ code: "CORE_LIMIT", file: "shader", line: 1 }] });
  });
});
