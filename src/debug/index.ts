export type { DescriptorState } from "./descriptors.ts";
export { formatIoctl } from "./ioctl.ts";
export { decodePackets, type PacketLine } from "./packets.ts";
export { decodeRecord, type FaultFields, type WaveState } from "./record.ts";
export { decodeDump, type FaultReport, formatReport, type LoadedCode, nearestMapping, reportJson } from "./report.ts";
