export { emitModule } from "./module.ts";
