/** What the lifter cannot do; the texts stand in `src/core/codes.ts`, in this order. */
export const enum Unsupported {
  WIDTH = 1,
  TYPE = 2,
  STORAGE = 3,
  POINTER = 4,
  INDEX = 5,
  BUILTIN = 6,
  EXT_INST = 7,
  DYNAMIC_LOCAL = 8,
  SPEC_OP = 9,
  RECURSION = 10,
  FALLTHROUGH = 11,
  UNSTRUCTURED = 12,
  EXECUTION_MODEL = 13,
  ATOMIC = 14,
  EXT_SET = 15,
  SPEC_WIDTH = 16,
}
