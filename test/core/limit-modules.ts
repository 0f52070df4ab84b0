import { opcodeByName } from "../../src/spirv/index.ts";

/** Modules that are longer, deeper or wider than the core has room for, but valid otherwise; written as words. */
class Words {
  readonly #opcodes = new Map<string, number>();
  readonly #words: number[] = [];
  #bound = 1;

  id(): number {
    return this.#bound++;
  }
  put(name: string, ...operands: readonly number[]): void {
    let opcode = this.#opcodes.get(name);
    if (opcode === undefined) {
      opcode = opcodeByName(`Op${name}`);
      if (opcode === undefined) throw new Error(name);
      this.#opcodes.set(name, opcode);
    }
    this.#words.push(((operands.length + 1) << 16) | opcode);
    for (const operand of operands) this.#words.push(operand);
  }
  /** An instruction with result type `type` and a new result, which is the answer. */
  value(name: string, type: number, ...operands: readonly number[]): number {
    const id = this.id();
    this.put(name, type, id, ...operands);
    return id;
  }
  /** A type or label. */
  made(name: string, ...operands: readonly number[]): number {
    const id = this.id();
    this.put(name, id, ...operands);
    return id;
  }
  module(): Uint32Array {
    return Uint32Array.from([0x0723_0203, 0x0001_0300, 0, this.#bound, 0].concat(this.#words));
  }
}

const storage = { workgroup: 4, function: 7, push: 9, buffer: 12 } as const;

/** What the parts of a shader are built with. */
interface Frame {
  readonly w: Words;
  readonly uint: number;
  readonly constant: (value: number) => number;
}

/**
 * A compute shader with one word in a buffer. `types` stands before the functions; `functions` gives other functions;
 * `body` stands in main, behind the load of the word (`x`) and of whether it is 0 (`c`), and answers what is stored.
 */
function shader(parts: {
  readonly local?: readonly number[];
  readonly annotations?: (w: Words) => void;
  readonly types?: (f: Frame) => void;
  readonly functions?: (f: Frame) => void;
  readonly variables?: (f: Frame) => void;
  readonly body: (f: Frame, x: number, c: number) => number;
}): Uint32Array {
  const w = new Words();
  const [main, buffer, block] = [w.id(), w.id(), w.id()] as const;
  w.put("Capability", 1);
  w.put("MemoryModel", 0, 1);
  w.put("EntryPoint", 5, main, 0x6e69_616d, 0);
  w.put("ExecutionMode", main, 17, ...(parts.local ?? [32, 1, 1]));
  w.put("Decorate", block, 2);
  w.put("MemberDecorate", block, 0, 35, 0);
  w.put("Decorate", buffer, 34, 0);
  w.put("Decorate", buffer, 33, 0);
  parts.annotations?.(w);
  const none = w.made("TypeVoid");
  const fn = w.made("TypeFunction", none);
  const bool = w.made("TypeBool");
  const uint = w.made("TypeInt", 32, 0);
  w.put("TypeStruct", block, uint);
  const toBlock = w.made("TypePointer", storage.buffer, block);
  const toWord = w.made("TypePointer", storage.buffer, uint);
  const constants = new Map<number, number>();
  const constant = (value: number): number => {
    const known = constants.get(value) ?? w.value("Constant", uint, value);
    constants.set(value, known);
    return known;
  };
  const zero = constant(0);
  w.put("Variable", toBlock, buffer, storage.buffer);
  const f: Frame = { w, uint, constant };
  parts.types?.(f);
  parts.functions?.(f);
  w.put("Function", none, main, 0, fn);
  w.made("Label");
  parts.variables?.(f);
  const at = w.value("AccessChain", toWord, buffer, zero);
  const x = w.value("Load", uint, at);
  const c = w.value("IEqual", bool, x, zero);
  w.put("Store", at, parts.body(f, x, c));
  w.put("Return");
  w.put("FunctionEnd");
  return w.module();
}

/** `levels` functions, each of which calls the one before `calls` times; the first adds to its word `adds` times. */
function calls(levels: number, count: number, adds: number): Uint32Array {
  let last = 0;
  return shader({
    functions({ w, uint, constant }) {
      const type = w.made("TypeFunction", uint, uint);
      const three = constant(3);
      for (let level = 0; level < levels; level++) {
        const own = w.value("Function", uint, 0, type);
        let value = w.value("FunctionParameter", uint);
        w.made("Label");
        for (let k = 0; k < (level === 0 ? adds : count); k++)
          value =
            level === 0
              ? w.value(k % 2 === 0 ? "IMul" : "BitwiseXor", uint, value, k % 2 === 0 ? value : three)
              : w.value("FunctionCall", uint, last, value);
        w.put("ReturnValue", value);
        w.put("FunctionEnd");
        last = own;
      }
    },
    body: ({ w, uint }, x) => w.value("FunctionCall", uint, last, x),
  });
}

/** An array of `length` words as a type. */
const array = ({ w, uint, constant }: Frame, length: number, of = uint): number =>
  w.made("TypeArray", of, constant(length));

/** `count` ifs, one behind the other; nothing in them. */
function ifs(count: number): Uint32Array {
  return shader({
    body({ w }, x, c) {
      for (let k = 0; k < count; k++) {
        const [inside, behind] = [w.id(), w.id()] as const;
        w.put("SelectionMerge", behind, 0);
        w.put("BranchConditional", c, inside, behind);
        w.put("Label", inside);
        w.put("Branch", behind);
        w.put("Label", behind);
      }
      return x;
    },
  });
}

/** `depth` ifs, each in the one before. */
function nest(depth: number): Uint32Array {
  return shader({
    body({ w }, x, c) {
      const merges: number[] = [];
      for (let k = 0; k < depth; k++) {
        const [inside, behind] = [w.id(), w.id()] as const;
        w.put("SelectionMerge", behind, 0);
        w.put("BranchConditional", c, inside, behind);
        w.put("Label", inside);
        merges.push(behind);
      }
      for (const merge of merges.reverse()) {
        w.put("Branch", merge);
        w.put("Label", merge);
      }
      return x;
    },
  });
}

/** A local array of `length` words, indexed by what was loaded. */
function local(length: number, storageClass: "function" | "workgroup"): Uint32Array {
  let [pointer, toWord, variable] = [0, 0, 0];
  return shader({
    types(f) {
      const type = array(f, length);
      pointer = f.w.made("TypePointer", storage[storageClass], type);
      toWord = f.w.made("TypePointer", storage[storageClass], f.uint);
      if (storageClass === "workgroup") variable = f.w.value("Variable", pointer, storage.workgroup);
    },
    variables({ w }) {
      if (storageClass === "function") variable = w.value("Variable", pointer, storage.function);
    },
    body({ w, uint }, x) {
      const at = w.value("AccessChain", toWord, variable, x);
      w.put("Store", at, x);
      return w.value("Load", uint, at);
    },
  });
}

/** `count` local variables, arrays of `length` words, of which the first word of each is written. */
function variables(count: number, length: number): Uint32Array {
  let pointer = 0;
  let toWord = 0;
  const all: number[] = [];
  return shader({
    types(f) {
      pointer = f.w.made("TypePointer", storage.function, array(f, length));
      toWord = f.w.made("TypePointer", storage.function, f.uint);
    },
    variables({ w }) {
      for (let k = 0; k < count; k++) all.push(w.value("Variable", pointer, storage.function));
    },
    body({ w, constant }, x) {
      for (const one of all) w.put("Store", w.value("AccessChain", toWord, one, constant(0)), x);
      return x;
    },
  });
}

/** A loop with `count` ways out, in front of each a store to another one of `length` words, all of which are read behind it. */
function exits(count: number, length: number): Uint32Array {
  let [pointer, toWord, variable] = [0, 0, 0];
  return shader({
    types(f) {
      pointer = f.w.made("TypePointer", storage.function, array(f, length));
      toWord = f.w.made("TypePointer", storage.function, f.uint);
      for (let k = 0; k < length; k++) f.constant(k);
    },
    variables({ w }) {
      variable = w.value("Variable", pointer, storage.function);
    },
    body({ w, uint, constant }, x, c) {
      const places = Array.from({ length }, (_, k) => w.value("AccessChain", toWord, variable, constant(k)));
      const [header, merge, again] = [w.id(), w.id(), w.id()] as const;
      w.put("Branch", header);
      w.put("Label", header);
      w.put("LoopMerge", merge, again, 0);
      for (let k = 0; k < count; k++) {
        const [test, behind] = [w.id(), w.id()] as const;
        w.put("Branch", test);
        w.put("Label", test);
        w.put("Store", places[k % length]!, x);
        w.put("SelectionMerge", behind, 0);
        w.put("BranchConditional", c, merge, behind);
        w.put("Label", behind);
      }
      w.put("Branch", again);
      w.put("Label", again);
      w.put("Branch", header);
      w.put("Label", merge);
      return places.reduce((sum, place) => w.value("IAdd", uint, sum, w.value("Load", uint, place)), x);
    },
  });
}

/** `count` values of `length` words each, which differ in their first one. */
function values(count: number, length: number): Uint32Array {
  let type = 0;
  return shader({
    types(f) {
      type = array(f, length);
    },
    body({ w, uint }, x) {
      let value = w.value("Undef", type);
      for (let k = 1; k < count; k++) value = w.value("CompositeInsert", type, x, value, 0);
      return count === 1 ? x : w.value("CompositeExtract", uint, value, 0);
    },
  });
}

/** Push constants of which the word at `offset` is read. */
function pushed(offset: number): Uint32Array {
  let [pointer, variable] = [0, 0];
  let type = 0;
  return shader({
    annotations(w) {
      type = w.id();
      w.put("Decorate", type, 2);
      w.put("MemberDecorate", type, 0, 35, offset);
    },
    types({ w, uint }) {
      w.put("TypeStruct", type, uint);
      const toBlock = w.made("TypePointer", storage.push, type);
      pointer = w.made("TypePointer", storage.push, uint);
      variable = w.value("Variable", toBlock, storage.push);
    },
    body: ({ w, uint, constant }) => w.value("Load", uint, w.value("AccessChain", pointer, variable, constant(0))),
  });
}

/** Structs with `members` members in all. */
function members(count: number): Uint32Array {
  return shader({
    types({ w, uint }) {
      for (let left = count; left > 0; left -= 16_000)
        w.made("TypeStruct", ...new Array<number>(Math.min(left, 16_000)).fill(uint));
    },
    body: (_, x) => x,
  });
}

/** Arrays of one element, `depth` of them in each other. */
function levels(depth: number): Uint32Array {
  return shader({
    types(f) {
      let type = f.uint;
      for (let k = 0; k < depth; k++) type = array(f, 1, type);
    },
    body: (_, x) => x,
  });
}

/** What is too large, the words of it, what the message says, and the same a little smaller where that is quick. */
export const tooLarge: readonly {
  readonly name: string;
  readonly words: () => Uint32Array;
  readonly text: RegExp;
  readonly near?: () => Uint32Array;
}[] = [
  { name: "instructions", words: () => calls(6, 10, 12), text: /instructions/ },
  {
    name: "operands",
    words: () => exits(2_300, 1_100),
    text: /instruction operands/,
    near: () => exits(300, 100),
  },
  { name: "blocks", words: () => ifs(66_000), text: /blocks/ },
  {
    name: "nested constructs",
    words: () => nest(4_200),
    text: /4096 nested constructs or calls/,
    near: () => nest(300),
  },
  {
    name: "nested calls",
    words: () => calls(4_200, 1, 1),
    text: /4096 nested constructs or calls/,
    near: () => calls(300, 1, 1),
  },
  { name: "local scalars", words: () => variables(33, 8_000), text: /local scalars/, near: () => variables(3, 8_000) },
  {
    name: "scalars in a value",
    words: () => values(1, 8_200),
    text: /8192 scalars in one value/,
    near: () => values(1, 8_000),
  },
  {
    name: "scalars of all values",
    words: () => values(270, 8_000),
    text: /scalars in one value/,
    near: () => values(20, 8_000),
  },
  {
    name: "push constants",
    words: () => pushed(4_096),
    text: /4096 bytes of push constants/,
    near: () => pushed(4_092),
  },
  {
    name: "members",
    words: () => members(132_000),
    text: /ids, members or levels of types/,
    near: () => members(32_000),
  },
  { name: "type levels", words: () => levels(600), text: /ids, members or levels of types/, near: () => levels(500) },
  { name: "machine instructions", words: () => calls(6, 10, 6), text: /machine instructions/ },
  {
    name: "workgroup memory",
    words: () => local(16_385, "workgroup"),
    text: /65536 bytes of workgroup memory/,
    near: () => local(16_384, "workgroup"),
  },
  {
    name: "local arrays",
    words: () => local(32_769, "function"),
    text: /131072 bytes of local arrays/,
    near: () => local(8_000, "function"),
  },
  {
    name: "invocations",
    words: () => shader({ local: [1025, 1, 1], body: (_, x) => x }),
    text: /1024 invocations/,
    near: () => shader({ local: [1024, 1, 1], body: (_, x) => x }),
  },
];
