export { ApiLayer, type ApiMessage, type ApiRule, formatApiMessage } from "./layer.ts";
