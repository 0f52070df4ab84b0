import { fileProblem } from "../base/index.ts";

/** The settings of `serve`, as `src/config.ts` reads them from flags and environment. */
export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly cacheDir: string;
  readonly cacheBytes: number;
  readonly cacheDisable: boolean;
  readonly memoryBytes: number;
  readonly sharedCache: string | undefined;
  readonly sharedSecret: string | undefined;
  readonly redis: string | undefined;
  readonly healthPort: number | undefined;
  readonly verifyRate: number;
  readonly workers: number;
  readonly maxWaiting: number;
  readonly timeLimitMs: number;
  readonly memoryLimitMb: number;
  readonly isolate: "thread" | "process";
  readonly bodyBytes: number;
  readonly drainMs: number;
  readonly apiKeys: string | undefined;
  readonly apiKey: string | undefined;
  readonly rateLimit: number;
  readonly insecure: boolean;
  readonly traces: boolean;
  readonly logLevel: string;
  readonly server: string | undefined;
  readonly debug: readonly string[];
  readonly trace: readonly string[];
  readonly launchBlocking: boolean;
  readonly icdFilenames: readonly string[];
  readonly runtimeDir: string;
}

export type ServeFlags = Readonly<Partial<Record<keyof ServeSettings | "config", string | boolean>>>;

/** What the entry gives the commands: the only way from here to the process's environment. */
export interface CliEnvironment {
  /** Errors: an `Error` named ConfigError for a value that is none. */
  readonly loadConfig: (flags: ServeFlags) => ServeSettings;
  /** Folders of `PATH`. */
  readonly searchPath: readonly string[];
}

/** Ends the command with a status of the contract: 1 the input's fault, 2 wrong usage, 3 a bug or the environment. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly status: 1 | 2 | 3;

  constructor(status: 1 | 2 | 3, message: string) {
    super(message);
    this.status = status;
  }
}

let isOutputGone = false;
let isBorne = false;

/** Whether a stream was written to: what is on its way is lost when the process ends at once. */
export const hasPrinted = (): boolean => isBorne;

/** Nobody reads standard output any more, as after `kiln … | head`. */
export const outputIsGone = (): boolean => isOutputGone;

/**
 * A reader that leaves ends neither a server nor a check, whose status still counts: what would be printed is dropped.
 * Other trouble with standard output is trouble of the environment.
 */
export function bearLostReaders(): void {
  if (isBorne) return;
  isBorne = true;
  process.stderr.on("error", () => {
    // There is nowhere left to tell of it.
  });
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    isOutputGone = true;
    if (error.code === "EPIPE") return;
    complain(`kiln: standard output: ${fileProblem(error)}`);
    process.exit(3);
  });
}

/** Text to standard output, with an end of line. The streams are made by the first use: most compiles print nothing. */
export function print(text: string): void {
  bearLostReaders();
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

export function complain(text: string): void {
  bearLostReaders();
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** To standard output as it is. */
export function printBytes(content: string | Uint8Array): void {
  bearLostReaders();
  process.stdout.write(content);
}
