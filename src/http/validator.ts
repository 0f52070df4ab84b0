import { createRequire } from "node:module";
import type { FastifyServerOptions } from "fastify";

type Compilers = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type BuildValidator = NonNullable<Compilers["buildValidator"]>;

/** Fastify's own, from where Fastify finds it; the bundler does not follow it. */
const packageName = "@fastify/ajv-compiler";

let loaded: BuildValidator | undefined;

/** Loads what compiles schemas: some milliseconds that a server spends after it listens, not before. */
export function loadValidator(): BuildValidator {
  if (loaded !== undefined) return loaded;
  const fromFastify = createRequire(createRequire(import.meta.url).resolve("fastify"));
  loaded = (fromFastify(packageName) as () => BuildValidator)();
  return loaded;
}

/**
 * Validators as Fastify makes them, made at the first use. Answers are typed: writing them by schema buys nothing, and
 * compiling the writers is a good part of a start.
 */
export const compilersFactory: Compilers = {
  buildValidator: (externalSchemas, options) => {
    let compile: ReturnType<BuildValidator> | undefined;
    return (route) => {
      compile ??= loadValidator()(externalSchemas, options);
      return compile(route);
    };
  },
  buildSerializer: () => () => JSON.stringify,
};
