/** Room for more items is not kept from compile to compile. */
const KEPT = 4096;
const nothing: readonly never[] = [];

/**
 * Lists in the making, one on top of the other. Each is copied out in its size at its end: an array that grows by itself
 * takes the room of seventeen items for its first, and most lists of a shader have one.
 */
export class Lists {
  private readonly items: unknown[] = [];
  /** Where the next item goes; a list begins where this was then. */
  top = 0;
  private peak = 0;

  /** Forgets all items, and lets go of them. */
  clear(): void {
    const { items } = this;
    for (let at = 0; at < this.peak; at++) items[at] = undefined;
    if (this.peak > KEPT) items.length = 0;
    this.top = 0;
    this.peak = 0;
  }

  add(item: unknown): void {
    this.items[this.top++] = item;
  }

  /** Ends the list that began at `start`. All its items are of the type. */
  end<Item>(start: number): readonly Item[] {
    const { top } = this;
    const items = this.items as Item[];
    if (top > this.peak) this.peak = top;
    this.top = start;
    switch (top - start) {
      case 0:
        return nothing;
      case 1:
        return [items[start]!];
      case 2:
        return [items[start]!, items[start + 1]!];
      case 3:
        return [items[start]!, items[start + 1]!, items[start + 2]!];
      default:
        return items.slice(start, top);
    }
  }
}
