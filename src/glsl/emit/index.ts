export { type EmitOptions, emitModule } from "./module.ts";
