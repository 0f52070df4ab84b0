import { DriverError } from "./errors.ts";

/** The API that this driver has, and the version of the driver itself: a manifest must ask for no more, and for this one. */
export const API_VERSION = "1.3";
export const DRIVER_VERSION = 1;

/** What a manifest says: which driver, and where its shaders are compiled (absent: in this process). */
export interface DriverManifest {
  readonly path: string;
  readonly driver: "kiln";
  readonly compile?: string;
  readonly apiVersion: string;
  readonly driverVersion: number;
}

function failed(message: string): DriverError {
  return new DriverError("INITIALIZATION_FAILED", message);
}

/** True where `wanted` (major.minor) is served by `has`: the same major version, no higher minor one. */
function serves(has: string, wanted: string): boolean {
  const [major, minor] = has.split(".").map(Number) as [number, number];
  const [wantedMajor, wantedMinor] = wanted.split(".").map(Number) as [number, number];
  return major === wantedMajor && wantedMinor <= minor;
}

/** INITIALIZATION_FAILED, with both versions, where an application asks for more than the driver has. */
export function negotiate(wanted: string, who: string): void {
  if (!/^\d+\.\d+$/.test(wanted))
    throw failed(`${who}: apiVersion ${JSON.stringify(wanted)} is no major.minor version`);
  if (!serves(API_VERSION, wanted))
    throw failed(`${who} asks for API version ${wanted}, this driver has ${API_VERSION}`);
}

/**
 * A manifest's contents: JSON `{"driver": "kiln", "compile": "http://…", "apiVersion": "1.3", "driverVersion": 1}`.
 * INITIALIZATION_FAILED with the path, and for a version both of them, where it is not one of this driver's.
 */
export function readManifest(path: string, text: string): DriverManifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw failed(`manifest ${path} is no JSON`);
  }
  if (typeof parsed !== "object" || parsed === null) throw failed(`manifest ${path} is no JSON object`);
  const { driver, compile, apiVersion, driverVersion } = parsed as Readonly<Record<string, unknown>>;
  if (driver !== "kiln") throw failed(`manifest ${path}: driver ${JSON.stringify(driver)} is not known, only "kiln"`);
  if (typeof apiVersion !== "string") throw failed(`manifest ${path}: apiVersion is missing`);
  negotiate(apiVersion, `manifest ${path}`);
  if (driverVersion !== DRIVER_VERSION) {
    throw failed(
      `manifest ${path} is for driver version ${JSON.stringify(driverVersion)}, this driver is ${DRIVER_VERSION}`,
    );
  }
  if (compile === undefined || compile === "in-process") return { path, driver, apiVersion, driverVersion };
  if (typeof compile !== "string" || !URL.canParse(compile)) {
    throw failed(`manifest ${path}: compile is ${JSON.stringify(compile)}, expected "in-process" or a URL`);
  }
  return { path, driver, compile, apiVersion, driverVersion };
}
