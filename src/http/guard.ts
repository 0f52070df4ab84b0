import type { FastifyReply, FastifyRequest } from "fastify";
import { type ApiKey, type Role, requireRole, roleOf } from "./api-keys.ts";
import { httpError } from "./codes.ts";

/** Who may ask: judged by the listener, since behind a proxy every peer looks local. */
export interface Access {
  /** The listener is on a loopback address: no key needed, Host and Origin are checked. */
  readonly loopback: boolean;
  /** Undefined: no key needed. */
  readonly keys: readonly ApiKey[] | undefined;
}

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** True for the host part of `127.0.0.1:7420`, `[::1]`, `localhost`. */
function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && loopbackName.test(host.replace(/:\d+$/, ""));
}

function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackHost(new URL(origin).host);
}

export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The role that a route needs where keys are on; `none` for health checks. */
    role?: Role | "none";
  }
}

/** How many there are of the header: Node gives the first. */
function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

/** The hook that guards every route, unknown ones too. */
export function guard(access: Access) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    // A whole URL would name another host than the one that is checked.
    if (!request.url.startsWith("/") || hosts(request.raw.rawHeaders) > 1) {
      throw httpError("BAD_REQUEST", { reason: "ask for a path, with one Host" });
    }
    const need = request.routeOptions.config?.role ?? "read";
    if (access.loopback) {
      const { origin } = request.headers;
      if (!isLoopbackHost(request.headers.host) || (origin !== undefined && !isLoopbackOrigin(origin))) {
        throw httpError("HOST_REFUSED", {});
      }
    }
    if (access.keys !== undefined && need !== "none") {
      requireRole(roleOf(access.keys, request.headers.authorization), need);
    }
    done();
  };
}
