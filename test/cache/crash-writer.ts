import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Key, ShaderCache } from "../../src/cache/index.ts";

/**
 * Puts and gets records without end, several at a time, until it is killed. A record's bytes follow from its key, so
 * every hit is checked whole. Prints `ok` for each put that is done, `hit` for each checked one; ends with 5 on a wrong
 * byte. Arguments: folder, capacity in bytes, seed, how many different keys; `jumpy` for a clock that jumps by hours.
 */
const [folder = "", capacity = "", seed = "", keys = "", clock = ""] = process.argv.slice(2);

const keyOf = (n: number) => createHash("sha256").update(`key ${n}`).digest("hex") as Key;
function contentOf(key: Key): Buffer {
  const block = createHash("sha512").update(key).digest();
  const length = 200 + (block.readUInt16LE(0) % 20_000);
  return Buffer.alloc(length, block);
}

const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: Number(capacity) } });
let state = Number(seed) >>> 0;
const next = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};

if (clock === "jumpy") {
  const RealDate = Date;
  let offsetMs = 0;
  setInterval(() => {
    offsetMs = Math.round((next() - 0.5) * 48 * 3_600_000);
  }, 40);
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(RealDate.now() + offsetMs);
      else super(...given);
    }
    static override now() {
      return RealDate.now() + offsetMs;
    }
  } as DateConstructor;
}

async function work(): Promise<never> {
  for (;;) {
    // As in a server, where each request comes from the event loop: timers run.
    await nextTurn();
    const key = keyOf(Math.floor(next() * Number(keys)));
    const found = await cache.get(key);
    if (found === undefined) {
      await cache.put(key, contentOf(key));
      process.stdout.write("ok\n");
    } else if (contentOf(key).equals(found.value)) {
      process.stdout.write("hit\n");
    } else {
      process.stdout.write(`wrong ${key}\n`);
      process.exit(5);
    }
  }
}
await Promise.all([work(), work(), work(), work()]);
