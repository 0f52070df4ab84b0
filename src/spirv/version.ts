/** Where a module is meant to run; it fixes the version in the header. */
export type SpirvTarget =
  | "vulkan1.0"
  | "vulkan1.1"
  | "vulkan1.2"
  | "vulkan1.3"
  | "spv1.0"
  | "spv1.1"
  | "spv1.2"
  | "spv1.3"
  | "spv1.4"
  | "spv1.5"
  | "spv1.6";

export const magicNumber = 0x07230203;

/** The header's version word (`0x00010600` for 1.6): the highest version that the environment must accept. */
export const targetVersion: Readonly<Record<SpirvTarget, number>> = {
  "vulkan1.0": 0x00010000,
  "vulkan1.1": 0x00010300,
  "vulkan1.2": 0x00010500,
  "vulkan1.3": 0x00010600,
  "spv1.0": 0x00010000,
  "spv1.1": 0x00010100,
  "spv1.2": 0x00010200,
  "spv1.3": 0x00010300,
  "spv1.4": 0x00010400,
  "spv1.5": 0x00010500,
  "spv1.6": 0x00010600,
};
