import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { CompileSuccess } from "../service/index.ts";

/** Bytes of a memo's entry beside the text. */
const entryOverheadBytes = 512;
const lastField = '"microseconds":';

/** The text of an answer up to the value of its last field, which is the only one that differs from hit to hit. */
export interface Answered extends Pick<CompileSuccess, "key"> {
  readonly stored: Uint8Array;
  readonly head: string;
}

/**
 * Answers of hits in memory, under the SHA-256 of the whole body that asked for them: the same body again needs no
 * parsing, no key and no writing. An answer holds only while the memory tier still has the record that it was made of
 * (`hitAgain`), so nothing has to be dropped here when a record is evicted, replaced or purged.
 */
export class AnswerMemo {
  readonly #answers: LRUCache<string, Answered>;

  constructor(capacityBytes: number) {
    this.#answers = new LRUCache({
      maxSize: capacityBytes,
      maxEntrySize: capacityBytes >> 3,
      // A string takes two bytes a character at most.
      sizeCalculation: ({ head }) => head.length * 2 + entryOverheadBytes,
    });
  }

  find(body: Uint8Array): Answered | undefined {
    return this.#answers.get(hash("sha256", body, "base64"));
  }

  /** Keeps `text`, the JSON of an answer that ends with the field `microseconds`. */
  keep(body: Uint8Array, text: string, { key, stored }: CompileSuccess): void {
    const end = text.lastIndexOf(lastField) + lastField.length;
    this.#answers.set(hash("sha256", body, "base64"), { head: text.slice(0, end), key, stored: stored.bytes });
  }
}
