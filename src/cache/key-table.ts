/** Bytes of a key: a SHA-256. */
export const keyBytes = 32;
const none = -1;
/** Marks an entry that is free, in `#newer`. */
const free = -2;

/**
 * A map from keys to one u32 each, in order of last use, in typed arrays: 45 bytes an entry and 8 of hash slots,
 * in tables that double. Keys are hashes already, so their first word is the hash.
 * Ids name entries while they live; they are used again.
 */
export class KeyTable {
  #capacity = 64;
  #keys = Buffer.alloc(this.#capacity * keyBytes);
  #values = new Uint32Array(this.#capacity);
  #newer = new Int32Array(this.#capacity).fill(free);
  #older = new Int32Array(this.#capacity);
  #marks = new Uint8Array(this.#capacity);
  /** Twice as many slots as entries; an id, or `none`. */
  #slots = new Int32Array(this.#capacity * 2).fill(none);
  #freeHead = none;
  #used = 0;
  #oldest = none;
  #newest = none;
  size = 0;

  #slotOf(key: Buffer, at: number): number {
    const mask = this.#slots.length - 1;
    let slot = key.readUInt32LE(at) & mask;
    for (;;) {
      const id = this.#slots[slot] as number;
      if (id === none || key.compare(this.#keys, id * keyBytes, (id + 1) * keyBytes, at, at + keyBytes) === 0)
        return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** The entry's id, or -1. `at`: where the key starts in `key`. */
  find(key: Buffer, at = 0): number {
    return this.#slots[this.#slotOf(key, at)] as number;
  }

  value(id: number): number {
    return this.#values[id] as number;
  }

  /** Sets the value and makes the entry the newest. */
  set(key: Buffer, at: number, value: number): number {
    let slot = this.#slotOf(key, at);
    let id = this.#slots[slot] as number;
    if (id === none) {
      if (this.size === this.#capacity) {
        this.#grow();
        slot = this.#slotOf(key, at);
      }
      id = this.#take();
      key.copy(this.#keys, id * keyBytes, at, at + keyBytes);
      this.#slots[slot] = id;
      this.size++;
    } else this.#unlink(id);
    this.#marks[id] = 0;
    this.#values[id] = value;
    this.#link(id);
    return id;
  }

  #take(): number {
    const id = this.#freeHead;
    if (id === none) return this.#used++;
    this.#freeHead = this.#older[id] as number;
    return id;
  }

  touch(id: number): void {
    if (id === this.#newest) return;
    this.#unlink(id);
    this.#link(id);
  }

  #link(id: number): void {
    this.#older[id] = this.#newest;
    this.#newer[id] = none;
    if (this.#newest === none) this.#oldest = id;
    else this.#newer[this.#newest] = id;
    this.#newest = id;
  }

  #unlink(id: number): void {
    const [older, newer] = [this.#older[id] as number, this.#newer[id] as number];
    if (older === none) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === none) this.#newest = older;
    else this.#older[newer] = older;
  }

  remove(id: number): void {
    const mask = this.#slots.length - 1;
    let hole = this.#slotOf(this.#keys, id * keyBytes);
    this.#unlink(id);
    this.#newer[id] = free;
    this.#older[id] = this.#freeHead;
    this.#freeHead = id;
    this.size--;
    // Linear probing without tombstones: what stands after the hole moves into it, where its own slot allows.
    for (let next = (hole + 1) & mask; this.#slots[next] !== none; next = (next + 1) & mask) {
      const home = this.#keys.readUInt32LE((this.#slots[next] as number) * keyBytes) & mask;
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      this.#slots[hole] = this.#slots[next] as number;
      hole = next;
    }
    this.#slots[hole] = none;
  }

  #grow(): void {
    this.#capacity *= 2;
    const grown = Buffer.alloc(this.#capacity * keyBytes);
    this.#keys.copy(grown);
    this.#keys = grown;
    const words = (old: Int32Array) => {
      const made = new Int32Array(this.#capacity).fill(free);
      made.set(old);
      return made;
    };
    [this.#newer, this.#older] = [words(this.#newer), words(this.#older)];
    const [values, marks] = [new Uint32Array(this.#capacity), new Uint8Array(this.#capacity)];
    values.set(this.#values);
    marks.set(this.#marks);
    [this.#values, this.#marks] = [values, marks];
    this.#slots = new Int32Array(this.#capacity * 2).fill(none);
    for (let id = this.#oldest; id !== none; id = this.#newer[id] as number) {
      this.#slots[this.#slotOf(this.#keys, id * keyBytes)] = id;
    }
  }

  clear(): void {
    this.#slots.fill(none);
    this.#newer.fill(free);
    [this.#freeHead, this.#used, this.#oldest, this.#newest, this.size] = [none, 0, none, none, 0];
  }

  /** The least recently used, or -1. */
  get oldest(): number {
    return this.#oldest;
  }

  /** The next more recently used, or -1. */
  newer(id: number): number {
    return this.#newer[id] as number;
  }

  isLive(id: number): boolean {
    return id < this.#used && this.#newer[id] !== free;
  }

  /** The ids as they stand now, least recently used first. */
  ids(): Int32Array {
    const ids = new Int32Array(this.size);
    for (let at = 0, id = this.#oldest; id !== none; id = this.newer(id)) ids[at++] = id;
    return ids;
  }

  copyKey(id: number, to: Buffer, at: number): void {
    this.#keys.copy(to, at, id * keyBytes, (id + 1) * keyBytes);
  }

  hex(id: number): string {
    return this.#keys.toString("hex", id * keyBytes, (id + 1) * keyBytes);
  }

  /** Marks every entry; `unmark` and a new value take an entry's mark away. */
  markAll(): void {
    this.#marks.fill(1);
  }

  unmark(id: number): void {
    this.#marks[id] = 0;
  }

  isMarked(id: number): boolean {
    return this.#marks[id] === 1;
  }
}
