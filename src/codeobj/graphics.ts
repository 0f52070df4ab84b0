import { Bug } from "../base/index.ts";
import { allocatedVgprs } from "./hardware.ts";
import type { InterfaceReflection } from "./reflection.ts";

/** What the registers of a vertex or fragment shader are made of. */
export interface GraphicsHardware {
  readonly stage: "vertex" | "fragment";
  /** Highest VGPR used + 1. */
  readonly vgprs: number;
  readonly userSgprs: number;
  readonly scratchBytes: number;
  readonly interface: InterfaceReflection;
}

/** What the hardware hands on at most: registers SPI_PS_INPUT_CNTL_0 to _31, export targets 32 to 63. */
const maxParameters = 32;

/** Byte offsets in the register space. Source: RDNA2 register reference. */
export const graphicsRegisterOffsets = {
  rsrc1Ps: 0xb028,
  rsrc2Ps: 0xb02c,
  rsrc1Vs: 0xb128,
  rsrc2Vs: 0xb12c,
  cbShaderMask: 0x2823c,
  psInputControl: 0x28644,
  vsOutConfig: 0x286c4,
  psInputEnable: 0x286cc,
  psInputAddress: 0x286d0,
  psInControl: 0x286d8,
  barycentricControl: 0x286e0,
  positionFormat: 0x2870c,
  depthFormat: 0x28710,
  colorFormat: 0x28714,
  depthControl: 0x2880c,
  vsOutControl: 0x2881c,
} as const;

const R = graphicsRegisterOffsets;
/** Round to even, denormals kept; DX10_CLAMP. */
const modes = (0xf0 << 12) | (1 << 21);

/** RSRC1 and RSRC2 of a wave32 graphics stage; `memOrdered` is a bit of the stage's own. */
function resources(h: GraphicsHardware, memOrdered: number, extra: number): readonly [number, number] {
  const blocks = Math.max(1, Math.ceil(h.vgprs / 8)) - 1;
  const rsrc2 = Number(h.scratchBytes > 0) | ((h.userSgprs & 31) << 1) | ((h.userSgprs >> 5) << 27);
  return [(blocks | modes | (1 << memOrdered) | extra) >>> 0, rsrc2 >>> 0];
}

function vertexRegisters(h: GraphicsHardware): number[] {
  const { outputs, usesInstanceId, clipDistances, cullDistances, pointSize, layer, viewport } = h.interface;
  const [rsrc1, rsrc2] = resources(h, 27, usesInstanceId ? 3 << 24 : 0);
  const misc = pointSize || layer || viewport;
  const distances = clipDistances + cullDistances;
  const vectors = 1 + Number(misc) + Math.ceil(distances / 4);
  let positionFormat = 0;
  for (let k = 0; k < vectors; k++) positionFormat |= 4 << (4 * k);
  const control =
    ((1 << clipDistances) - 1) |
    (((((1 << cullDistances) - 1) << clipDistances) & 0xff) << 8) |
    (Number(pointSize) << 16) |
    (Number(layer) << 18) |
    (Number(viewport) << 19) |
    (Number(misc) << 21) |
    (Number(distances > 0) << 22) |
    (Number(distances > 4) << 23) |
    (Number(misc) << 24);
  const parameters = outputs.length;
  const config = (Math.max(0, parameters - 1) << 1) | (parameters === 0 ? 1 << 7 : 0);
  const { rsrc1Vs, rsrc2Vs, vsOutConfig, vsOutControl } = R;
  const list = [rsrc1Vs, rsrc1, rsrc2Vs, rsrc2, vsOutConfig, config];
  list.push(R.positionFormat, positionFormat, vsOutControl, control >>> 0);
  return list;
}

function fragmentRegisters(h: GraphicsHardware): number[] {
  const { inputs, inputAddress, colorFormats, depthFormat, depth, stencil, sampleMask, kills, earlyTests } =
    h.interface;
  const { postDepthCoverage, writesMemory, depthLayout } = h.interface;
  const [rsrc1, rsrc2] = resources(h, 25, 0);
  let mask = 0;
  for (let k = 0; k < 8; k++) if (((colorFormats >>> (4 * k)) & 15) !== 0) mask |= 15 << (4 * k);
  // Z_ORDER: 1 early, and late where the shader changes what the tests see; 0 late, where stores count whatever they say.
  const stores = writesMemory && !earlyTests;
  const order = stores ? 0 : 1;
  const depthControl =
    Number(depth) |
    (Number(stencil) << 1) |
    (order << 4) |
    (Number(kills) << 6) |
    (Number(sampleMask) << 8) |
    // EXEC_ON_HIER_FAIL, EXEC_ON_NOOP: it runs although nothing would be drawn.
    (Number(stores) << 9) |
    (Number(writesMemory) << 10) |
    (Number(earlyTests) << 12) |
    // CONSERVATIVE_Z_EXPORT: with that the early test may still refuse.
    (depthLayout << 13) |
    (Number(postDepthCoverage) << 23);
  const list: number[] = [R.rsrc1Ps, rsrc1, R.rsrc2Ps, rsrc2, R.cbShaderMask, mask >>> 0];
  for (let k = 0; k < inputs.length; k++) {
    const { flat, pointCoord } = inputs[k]!;
    // Alone, the attributes are taken to be the parameters in this order; a driver that links writes its own.
    list.push(R.psInputControl + 4 * k, k | (Number(flat) << 10) | (Number(pointCoord === true) << 17));
  }
  list.push(R.psInputEnable, inputAddress, R.psInputAddress, inputAddress);
  list.push(R.psInControl, inputs.length | (1 << 15), R.barycentricControl, 0);
  list.push(R.depthFormat, depthFormat, R.colorFormat, colorFormats >>> 0, R.depthControl, depthControl >>> 0);
  return list;
}

/**
 * Registers of a graphics stage: byte offset and value of each in turn, the offsets ascending. Source: docs/abi.md,
 * "Graphics stages". The core refuses shaders with more parameters than there are.
 */
export function graphicsRegisters(h: GraphicsHardware): readonly number[] {
  const parameters = Math.max(h.interface.inputs.length, h.interface.outputs.length);
  if (parameters > maxParameters) throw new Bug(`${parameters} parameters of a ${h.stage} stage`);
  return h.stage === "vertex" ? vertexRegisters(h) : fragmentRegisters(h);
}

/** Waves per SIMD that the registers allow, at most 16. */
export function graphicsOccupancy(vgprs: number): number {
  return Math.min(16, Math.floor(1024 / allocatedVgprs(vgprs)));
}
