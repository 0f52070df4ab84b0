import { describe, expect, it } from "vitest";
import { readScript } from "../../src/amber/index.ts";

const none = () => new Uint8Array();
const bytesOf = (type: string, data: string): number[] => {
  const { buffers } = readScript("s.amber", `#!amber\nBUFFER b DATA_TYPE ${type} DATA ${data} END\n`, none);
  return [...(buffers[0]?.bytes ?? [])];
};
const sizeOf = (type: string): number =>
  readScript("s.amber", `#!amber\nBUFFER b DATA_TYPE ${type} SIZE 1 FILL 0\n`, none).buffers[0]?.bytes.length ?? 0;

describe("values as bytes", () => {
  it.each([
    [
      "binary16: ties to even, the smallest, the largest",
      "float16",
      "2049 2051 5.9604644775390625e-8 65519",
      [0x00, 0x68, 0x02, 0x68, 0x01, 0x00, 0xff, 0x7b],
    ],
    [
      "binary16: half of the smallest is zero, beyond the largest is infinity",
      "float16",
      "2.98e-8 -65520",
      [0, 0, 0, 0xfc],
    ],
    ["binary32", "float", "-0.0 1e39", [0, 0, 0, 0x80, 0, 0, 0x80, 0x7f]],
    [
      "64-bit integers",
      "int64",
      "-2 0x0102030405060708",
      [0xfe, 255, 255, 255, 255, 255, 255, 255, 8, 7, 6, 5, 4, 3, 2, 1],
    ],
    ["a packed format is one number", "A2B10G10R10_UNORM_PACK32", "0x80000001", [1, 0, 0, 0x80]],
    ["bytes of a format", "R8G8B8A8_SNORM", "-128 127 1 0", [0x80, 0x7f, 1, 0]],
    ["std140 arrays step by 16", "uint8[] STD140", "1 2", [1, ...Array(15).fill(0), 2, ...Array(15).fill(0)]],
  ])("%s", (_name, type, data, bytes) => {
    expect(bytesOf(type as string, data as string)).toEqual(bytes);
  });
});

describe("sizes of elements", () => {
  // worked out by OpenGL 4.6, 7.6.2.2
  it.each([
    ["vec3<float>", 16],
    ["vec3<int8>", 4],
    ["mat2x2<float>", 16],
    ["mat2x2<float> STD140", 32],
    ["mat4x3<float>", 64],
    ["mat3x2<float>", 24],
    ["mat2x3<double>", 64],
    ["float[] STD140", 16],
    ["R8G8B8_UNORM", 3],
    ["D16_UNORM_S8_UINT", 3],
  ])("%s", (type, size) => {
    expect(sizeOf(type)).toBe(size);
  });
});
