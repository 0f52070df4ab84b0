import { describe, expect, it } from "vitest";
import { CliError } from "../../src/cli/environment.ts";
import { parseBind, parseGroups, parseOut, parsePush, parseSeconds } from "../../src/cli/exec-arguments.ts";

describe("exec's arguments", () => {
  it("name bindings, of set 0 or another", () => {
    expect(parseBind("1=zero:8")).toEqual({ set: 0, binding: 1, bytes: new Uint8Array(8) });
    expect(parseOut("2.3=a=b.bin")).toEqual({ set: 2, binding: 3, file: "a=b.bin" });
  });

  it("give push constants as little-endian dwords", () => {
    expect([...parsePush("u32 1024 f32 2.0 i32 -1 2")]).toEqual([
      ...[0, 4, 0, 0],
      ...[0, 0, 0, 0x40],
      ...[255, 255, 255, 255],
      ...[2, 0, 0, 0],
    ]);
    expect(parsePush("")).toHaveLength(0);
  });

  it("give one to three workgroup counts", () => {
    expect(parseGroups("4")).toEqual([4, 1, 1]);
    expect(parseGroups("4,5,6")).toEqual([4, 5, 6]);
  });

  it("are refused as wrong usage where they make no sense", () => {
    for (const parse of [
      () => parseBind("0"),
      () => parseBind("x=zero:4"),
      () => parseBind("0=zero:99999999999"),
      () => parseBind("0=zero:-4"),
      () => parseBind("0=zero:0"),
      () => parseBind("0=zero:"),
      () => parsePush(`u32${" 1".repeat(65)}`),
      () => parseOut("=f"),
      () => parsePush("3"),
      () => parsePush("u32 x"),
      () => parsePush("u32 -1"),
      () => parsePush("u32 1.5"),
      () => parsePush("i32 2147483648"),
      () => parseGroups("0,1,1"),
      () => parseGroups("1,1,1,1"),
      () => parseGroups("65536"),
      () => parseSeconds("never"),
      () => parseSeconds("0"),
    ]) {
      let status = 0;
      try {
        parse();
      } catch (error) {
        if (error instanceof CliError) status = error.status;
      }
      expect(status, String(parse)).toBe(2);
    }
  });
});
