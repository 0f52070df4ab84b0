/**
 * Arrays at compile-time addresses of linear memory. A column is its address: `changetype<U32Column>(ADDRESS)` in a
 * module-level `const` folds into each access. There are no bounds checks: whoever hands out indices checks capacity.
 */
@unmanaged
export class U32Column {
  @operator("[]") get(i: u32): u32 {
    return load<u32>(changetype<usize>(this) + ((<usize>i) << 2));
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u32>(changetype<usize>(this) + ((<usize>i) << 2), value);
  }
  /** Byte address of element i. */
  at(i: u32): usize {
    return changetype<usize>(this) + ((<usize>i) << 2);
  }
  /** Sets elements [from, to) to 0. */
  clear(from: u32, to: u32): void {
    memory.fill(this.at(from), 0, (<usize>(to - from)) << 2);
  }
  /** Sets elements [from, to) to `byte` in all four bytes. */
  fill(from: u32, to: u32, byte: u8): void {
    memory.fill(this.at(from), byte, (<usize>(to - from)) << 2);
  }
}

/** As `U32Column`, one byte an element. */
@unmanaged
export class U8Column {
  @operator("[]") get(i: u32): u32 {
    return load<u8>(changetype<usize>(this) + <usize>i);
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u8>(changetype<usize>(this) + <usize>i, <u8>value);
  }
  at(i: u32): usize {
    return changetype<usize>(this) + <usize>i;
  }
  clear(from: u32, to: u32): void {
    memory.fill(this.at(from), 0, <usize>(to - from));
  }
}

/** One bit an element, in 32-bit words. */
@unmanaged
export class BitSet {
  has(i: u32): bool {
    return ((load<u32>(changetype<usize>(this) + ((<usize>(i >> 5)) << 2)) >> (i & 31)) & 1) != 0;
  }
  add(i: u32): void {
    const address = changetype<usize>(this) + ((<usize>(i >> 5)) << 2);
    store<u32>(address, load<u32>(address) | ((<u32>1) << (i & 31)));
  }
  remove(i: u32): void {
    const address = changetype<usize>(this) + ((<usize>(i >> 5)) << 2);
    store<u32>(address, load<u32>(address) & ~((<u32>1) << (i & 31)));
  }
  /** Empties the words that hold bits [0, count). */
  clear(count: u32): void {
    memory.fill(changetype<usize>(this), 0, (<usize>((count + 31) >> 5)) << 2);
  }
}

/**
 * One field of a table of rows of 8 words: `changetype<Field8>(TABLE + 4 * k)` is word k of each row. What is read together
 * stands together: columns of their own, all of them a power of two long, would share the few lines of one cache set.
 */
@unmanaged
export class Field8 {
  @operator("[]") get(i: u32): u32 {
    return load<u32>(changetype<usize>(this) + ((<usize>i) << 5));
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u32>(changetype<usize>(this) + ((<usize>i) << 5), value);
  }
}

/** As `Field8`, in rows of 2 words. */
@unmanaged
export class Field2 {
  @operator("[]") get(i: u32): u32 {
    return load<u32>(changetype<usize>(this) + ((<usize>i) << 3));
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u32>(changetype<usize>(this) + ((<usize>i) << 3), value);
  }
}

/** As `Field8`, in rows of 4 words. */
@unmanaged
export class Field4 {
  @operator("[]") get(i: u32): u32 {
    return load<u32>(changetype<usize>(this) + ((<usize>i) << 4));
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u32>(changetype<usize>(this) + ((<usize>i) << 4), value);
  }
}

/** As `Field8`, in rows of 16 words: a cache line. */
@unmanaged
export class Field16 {
  @operator("[]") get(i: u32): u32 {
    return load<u32>(changetype<usize>(this) + ((<usize>i) << 6));
  }
  @operator("[]=") set(i: u32, value: u32): void {
    store<u32>(changetype<usize>(this) + ((<usize>i) << 6), value);
  }
}
