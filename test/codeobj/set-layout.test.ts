import { describe, expect, it } from "vitest";
import { layoutDynamicBuffers, layoutSets } from "../../src/codeobj/index.ts";

describe("layoutSets", () => {
  it("places bindings ascending, by the stride of their type, without gaps", () => {
    const [layout] = layoutSets([
      {
        set: 0,
        bindings: [
          { binding: 9, type: "sampler", count: 1 },
          { binding: 2, type: "sampledImage", count: 3 },
          { binding: 0, type: "storageBuffer", count: 1 },
          { binding: 5, type: "combinedImageSampler", count: 2 },
          { binding: 7, type: "uniformTexelBuffer", count: 1 },
        ],
      },
    ]);
    expect(layout?.bindings.map((b) => [b.binding, b.offsetBytes, b.strideBytes])).toEqual([
      [0, 0, 16],
      [2, 16, 32],
      [5, 112, 48],
      [7, 208, 32],
      [9, 240, 16],
    ]);
    expect(layout?.sizeBytes).toBe(256);
  });

  it("gives sets ascending and joins a set that comes in parts", () => {
    const layouts = layoutSets([
      { set: 2, bindings: [{ binding: 1, type: "uniformBuffer", count: 1 }] },
      { set: 0, bindings: [] },
      { set: 2, bindings: [{ binding: 0, type: "uniformBuffer", count: 1 }] },
    ]);
    expect(layouts.map((l) => [l.set, l.sizeBytes])).toEqual([
      [0, 0],
      [2, 32],
    ]);
    expect(layouts[1]?.bindings.map((b) => b.binding)).toEqual([0, 1]);
  });

  it("gives an aliased binding the room of the larger declaration", () => {
    const parts = [
      {
        set: 0,
        bindings: [
          { binding: 0, type: "storageBuffer", count: 4 },
          { binding: 1, type: "storageBuffer", count: 1 },
        ],
      },
      { set: 0, bindings: [{ binding: 0, type: "storageBuffer", count: 2 }] },
    ] as const;
    expect(layoutSets(parts)[0]?.bindings[1]?.offsetBytes).toBe(64);
    expect(layoutSets([parts[1], parts[0]])).toEqual(layoutSets(parts));
  });

  it("leaves dynamic buffers to the push-constant area, in set, binding order", () => {
    const sets = [
      { set: 1, bindings: [{ binding: 0, type: "uniformBufferDynamic", count: 1 }] },
      {
        set: 0,
        bindings: [
          { binding: 4, type: "storageBufferDynamic", count: 2 },
          { binding: 5, type: "storageBuffer", count: 1 },
        ],
      },
    ] as const;
    expect(layoutSets(sets).map((l) => l.sizeBytes)).toEqual([16, 0]);
    expect(layoutDynamicBuffers(sets).map((b) => [b.set, b.binding, b.offsetBytes])).toEqual([
      [0, 4, 0],
      [1, 0, 32],
    ]);
  });
});
