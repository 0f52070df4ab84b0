import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileProblem } from "./base/index.ts";

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

const traceNames = (value: string, name: string): string[] => {
  const names = value.split(",").flatMap((part) => part.trim() || []);
  const unknown = names.find((part) => part !== "ioctl");
  if (unknown === undefined) return names;
  throw new ConfigError(`${name}: there is no ${JSON.stringify(unknown)}; there is: ioctl`);
};

const share = (value: string, name: string): number => {
  const number = Number(value);
  if (value.trim() === "" || !(number >= 0 && number <= 1)) {
    throw new ConfigError(`${name}: expected a number from 0 to 1, not ${JSON.stringify(value)}`);
  }
  return number;
};

const isolation = (value: string, name: string): "thread" | "process" => {
  if (value === "thread" || value === "process") return value;
  throw new ConfigError(`${name}: expected thread or process, not ${JSON.stringify(value)}`);
};

const url = (value: string, name: string): string => {
  if (!URL.canParse(value)) throw new ConfigError(`${name}: expected a URL, not ${JSON.stringify(value)}`);
  return value;
};

const knownDebugNames = ["shaders", "ir", "passes", "validate", "nocache", "api", "packets", "hang", "time"];
const debugNames = (value: string, name: string): string[] => {
  const names = value.split(",").flatMap((part) => part.trim() || []);
  const unknown = names.find((part) => !knownDebugNames.includes(part));
  if (unknown === undefined) return names;
  throw new ConfigError(`${name}: there is no ${JSON.stringify(unknown)}; there are: ${knownDebugNames.join(" ")}`);
};

/** Loaded by the first default that asks it: a compile needs none. */
const os = () => process.getBuiltinModule("node:os");

/** Every setting of `serve`, in the order of the contract. */
const settings = {
  host: setting("KILN_HOST", text, () => "127.0.0.1"),
  port: setting("KILN_PORT", atLeast(0), () => 7420),
  cacheDir: setting("KILN_CACHE_DIR", text, (env) =>
    join(env.XDG_CACHE_HOME || join(os().homedir(), ".cache"), "kiln"),
  ),
  cacheBytes: setting("KILN_CACHE_BYTES", atLeast(4 << 20), () => 1 << 30),
  cacheDisable: setting("KILN_CACHE_DISABLE", flag, () => false),
  memoryBytes: setting("KILN_MEMORY_BYTES", atLeast(0), () => 128 << 20),
  /** A tier that other machines use too: `redis://…` or `http://…` of a bazel-remote. */
  sharedCache: setting<string | undefined>("KILN_SHARED_CACHE", url, none),
  /** Records of the shared tier carry a MAC under this secret. */
  sharedSecret: setting<string | undefined>("KILN_SHARED_SECRET", text, none),
  /** A farm's queue; also the shared cache where none is named. */
  redis: setting<string | undefined>("KILN_REDIS", url, none),
  /** Where `worker` answers probes; without it nowhere. */
  healthPort: setting<number | undefined>("KILN_HEALTH_PORT", atLeast(1), none),
  /** Share of the hits that are compiled again and compared, in at most a fiftieth of a processor's time. */
  verifyRate: setting("KILN_VERIFY_RATE", share, () => 0.001),
  workers: setting("KILN_WORKERS", atLeast(1), () => Math.max(1, os().availableParallelism() - 1)),
  maxWaiting: setting("KILN_MAX_WAITING", atLeast(0), () => 256),
  timeLimitMs: setting("KILN_TIME_LIMIT_MS", atLeast(1), () => 10_000),
  memoryLimitMb: setting("KILN_MEMORY_LIMIT_MB", atLeast(32), () => 512),
  /** Where compiles run: in threads, or in processes of their own for untrusted input. */
  isolate: setting("KILN_ISOLATE", isolation, () => "thread" as const),
  bodyBytes: setting("KILN_BODY_BYTES", atLeast(1), () => 8 << 20),
  drainMs: setting("KILN_DRAIN_MS", atLeast(0), () => 10_000),
  apiKeys: setting<string | undefined>("KILN_API_KEYS", text, none),
  apiKey: setting<string | undefined>("KILN_API_KEY", text, none),
  /** What one API key may send and cause in a minute, in requests' weights: one, and one more for each 16 KiB; 0: no limit. */
  rateLimit: setting("KILN_RATE_LIMIT", atLeast(0), () => 0),
  /** Spans by OpenTelemetry, for the SDK that the process was started with. */
  traces: setting("KILN_TRACES", flag, () => false),
  insecure: setting("KILN_INSECURE", flag, () => false),
  logLevel: setting("KILN_LOG_LEVEL", text, () => "error"),
  /** The service that commands with `--server` ask. */
  server: setting<string | undefined>("KILN_SERVER", url, none),
  debug: setting("KILN_DEBUG", debugNames, () => [] as string[]),
  /** What is traced, line by line on stderr: `ioctl`. */
  trace: setting("KILN_TRACE", traceNames, () => [] as string[]),
  launchBlocking: setting("KILN_LAUNCH_BLOCKING", flag, () => false),
  /** Manifests of drivers. */
  icdFilenames: setting(
    "KILN_ICD_FILENAMES",
    (value) => value.split(delimiter).filter((path) => path !== ""),
    () => [] as string[],
  ),
  /** Where running machines answer `kiln smi` and `kiln dmesg`. */
  runtimeDir: setting("KILN_RUNTIME_DIR", text, (env) =>
    join(env.XDG_RUNTIME_DIR || join(os().tmpdir(), `kiln-${os().userInfo().uid}`), "kiln"),
  ),
} as const;

type Settings = typeof settings;

/** The settings in force. */
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

type Flags = Readonly<Partial<Record<keyof Settings | "config", string | boolean>>>;

/** The settings of a file: a JSON object with the settings' names. Errors: `ConfigError`. */
function readFile(path: string): ReadonlyMap<string, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ConfigError(`${path}: ${fileProblem(error)}`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ConfigError(`${path}: expected a JSON object of settings`);
  }
  return new Map(
    Object.entries(parsed).map(([name, value]) => {
      if (!Object.hasOwn(settings, name)) throw new ConfigError(`${path}: there is no setting ${JSON.stringify(name)}`);
      if (typeof value === "object") throw new ConfigError(`${path}: ${name}: expected text, a number or a boolean`);
      return [name, String(value)];
    }),
  );
}

/** A member that is worked out when it is first asked for. */
function lazyMember<T>(make: () => T): PropertyDescriptor {
  let made: { readonly value: T } | undefined;
  return {
    enumerable: true,
    get: () => {
      made ??= { value: make() };
      return made.value;
    },
  };
}

/** Flags over environment over file over defaults. The only reader of the environment. Errors: `ConfigError`. */
export function loadConfig(flags: Flags = {}, env: Environment = process.env): Config {
  const path = flags.config ?? (env.KILN_CONFIG || undefined);
  const file = path === undefined ? new Map<string, string>() : readFile(String(path));
  const members = Object.entries(settings).map(([name, row]): [string, PropertyDescriptor] => {
    const said = (value: unknown) => [name, { value, enumerable: true }] as [string, PropertyDescriptor];
    const given = flags[name as keyof Settings];
    if (given !== undefined) return said(row.parse(String(given), `--${kebab(name)}`));
    const variable = env[row.variable];
    if (variable !== undefined && variable !== "") return said(row.parse(variable, row.variable));
    const written = file.get(name);
    if (written !== undefined) return said(row.parse(written, `${path}: ${name}`));
    return [name, lazyMember(() => row.default(env))];
  });
  const config = Object.defineProperties({}, Object.fromEntries(members)) as Config;
  if (config.port > 65_535) throw new ConfigError(`port ${config.port} is above 65535`);
  return Object.freeze(config);
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Folders in which the shell looks for programs. */
export function searchPath(env: Environment = process.env): readonly string[] {
  return (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}
