import { availableParallelism, homedir } from "node:os";
import { delimiter, join } from "node:path";

/** What a flag or variable said that is not a value of its setting: wrong usage. */
class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const wholeNumber = (text: string, name: string, least: number): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
    throw new ConfigError(`${name}: expected a whole number of at least ${least}, not ${JSON.stringify(text)}`);
  }
  return value;
};

const atLeast = (least: number) => (text: string, name: string) => wholeNumber(text, name, least);
const text = (value: string) => value;
const flag = (value: string, name: string): boolean => {
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off|)$/i.test(value)) return false;
  throw new ConfigError(`${name}: expected 1 or 0, not ${JSON.stringify(value)}`);
};

interface Setting<T> {
  /** The environment variable; the flag of the same name wins over it. */
  readonly variable: string;
  readonly parse: (value: string, name: string) => T;
  readonly default: (env: Environment) => T;
}

type Environment = Readonly<Record<string, string | undefined>>;

const setting = <T>(variable: string, parse: Setting<T>["parse"], fallback: Setting<T>["default"]): Setting<T> => ({
  variable,
  parse,
  default: fallback,
});

const none = () => undefined;

/** Every setting of `serve`, in the order of the contract. */
const settings = {
  host: setting("KILN_HOST", text, () => "127.0.0.1"),
  port: setting("KILN_PORT", atLeast(0), () => 7420),
  cacheDir: setting("KILN_CACHE_DIR", text, (env) => join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "kiln")),
  cacheBytes: setting("KILN_CACHE_BYTES", atLeast(4 << 20), () => 1 << 30),
  cacheDisable: setting("KILN_CACHE_DISABLE", flag, () => false),
  memoryBytes: setting("KILN_MEMORY_BYTES", atLeast(0), () => 128 << 20),
  workers: setting("KILN_WORKERS", atLeast(1), () => Math.max(1, availableParallelism() - 1)),
  maxWaiting: setting("KILN_MAX_WAITING", atLeast(0), () => 256),
  timeLimitMs: setting("KILN_TIME_LIMIT_MS", atLeast(1), () => 10_000),
  memoryLimitMb: setting("KILN_MEMORY_LIMIT_MB", atLeast(32), () => 512),
  bodyBytes: setting("KILN_BODY_BYTES", atLeast(1), () => 8 << 20),
  drainMs: setting("KILN_DRAIN_MS", atLeast(0), () => 10_000),
  apiKeys: setting<string | undefined>("KILN_API_KEYS", text, none),
  apiKey: setting<string | undefined>("KILN_API_KEY", text, none),
  insecure: setting("KILN_INSECURE", flag, () => false),
  logLevel: setting("KILN_LOG_LEVEL", text, () => "error"),
  debug: setting(
    "KILN_DEBUG",
    (value) => value.split(",").map((part) => part.trim()),
    () => [] as string[],
  ),
} as const;

type Settings = typeof settings;

/** The settings in force. */
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

/** Flags over environment over defaults. The only reader of the environment. Errors: `ConfigError`. */
export function loadConfig(
  flags: Readonly<Partial<Record<keyof Settings, string | boolean>>> = {},
  env: Environment = process.env,
): Config {
  const loaded = Object.entries(settings).map(([name, row]) => {
    const given = flags[name as keyof Settings];
    if (given !== undefined) return [name, row.parse(String(given), `--${kebab(name)}`)];
    const variable = env[row.variable];
    return [name, variable === undefined || variable === "" ? row.default(env) : row.parse(variable, row.variable)];
  });
  const config = Object.fromEntries(loaded) as Config;
  if (config.port > 65_535) throw new ConfigError(`port ${config.port} is above 65535`);
  return Object.freeze(config);
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Folders in which the shell looks for programs. */
export function searchPath(env: Environment = process.env): readonly string[] {
  return (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}
