import { createHash, timingSafeEqual } from "node:crypto";
import { httpError } from "./codes.ts";

/** What a key may do; each role may do what the ones before it may. */
const roles = ["read", "write", "admin"] as const;
export type Role = (typeof roles)[number];

/** A key by its SHA-256: the service never holds the keys themselves. */
export interface ApiKey {
  readonly sha256: Uint8Array;
  readonly role: Role;
}

export function hashKey(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

/** Reads a key file: lines `ROLE SHA256HEX`, `#` starts a comment. Throws with the line's number where one is wrong. */
export function parseApiKeys(text: string): ApiKey[] {
  const keys: ApiKey[] = [];
  text.split("\n").forEach((line, index) => {
    const bare = line.replace(/#.*/, "").trim();
    if (bare === "") return;
    const match = /^(read|write|admin)\s+([0-9a-fA-F]{64})$/.exec(bare);
    if (match === null) throw new Error(`line ${index + 1}: expected \`read|write|admin SHA256\``);
    keys.push({ role: match[1] as Role, sha256: Buffer.from(match[2] as string, "hex") });
  });
  return keys;
}

/** The role of the request's key. Every key is compared, in constant time. Errors: KEY_MISSING, KEY_UNKNOWN. */
export function roleOf(keys: readonly ApiKey[], authorization: string | undefined): Role {
  const match = /^Bearer +(\S+)$/i.exec(authorization ?? "");
  if (match === null) throw httpError("KEY_MISSING", {});
  const given = hashKey(match[1] as string);
  let role: Role | undefined;
  for (const key of keys) if (timingSafeEqual(given, key.sha256)) role = key.role;
  if (role === undefined) throw httpError("KEY_UNKNOWN", {});
  return role;
}

export function requireRole(have: Role, need: Role): void {
  if (roles.indexOf(have) < roles.indexOf(need)) throw httpError("KEY_ROLE", { role: need });
}
