/** Decoded instructions: 4 KiB pages of code, direct-mapped per queue; one record per dword, decoded when first met. */
import { CODE_BASE, CODE_PAGE_BYTES, CODE_PAGES, Context } from "../layout.ts";
import { EXECUTE, translate } from "../mem/translate.ts";

const VALID: u64 = 1 << 63;

/** First record of the page that holds `pc`, empty records where it is new; 0 with a fault raised where nothing may run. */
export function codePage(context: usize, queue: u32, pc: u64): usize {
  const page = (pc << 16) >> 28;
  const slot = <u32>page & (CODE_PAGES - 1);
  const tag = context + Context.CODE_TAGS + ((<usize>slot) << 3);
  const records = CODE_BASE + <usize>((queue * CODE_PAGES + slot) * CODE_PAGE_BYTES);
  if (load<u64>(tag) == (page | VALID)) return records;
  if (translate(pc, EXECUTE) == 0) return 0;
  memory.fill(records, 0, CODE_PAGE_BYTES);
  store<u64>(tag, page | VALID);
  return records;
}

/** Forgets all decoded code of a queue: before each dispatch, as code memory may have changed. */
export function dropCode(context: usize): void {
  memory.fill(context + Context.CODE_TAGS, 0, CODE_PAGES << 3);
}
