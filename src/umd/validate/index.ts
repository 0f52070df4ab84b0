export { ApiLayer, formatApiMessage } from "./layer.ts";
export type { ApiMessage, ApiRule } from "./types.ts";
