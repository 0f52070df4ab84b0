export { type ApiKey, hashKey, parseApiKeys } from "./api-keys.ts";
export { type AppOptions, createApp } from "./app.ts";
export { startFloor } from "./floor.ts";
export { type Access, isLoopbackAddress } from "./guard.ts";
export { type Server, startServer } from "./server.ts";
