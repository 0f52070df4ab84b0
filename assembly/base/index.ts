// asc resolves `import … from "./x.ts"` but not `export … from "./x.ts"`: so import, then export.
import { BitSet, U8Column, U32Column } from "./column.ts";
import {
  Fail,
  fail,
  failAt,
  failed,
  failureA,
  failureB,
  failureC,
  failureCode,
  failurePlace,
  Limit,
  place,
  resetFailure,
  setPlace,
  spend,
} from "./failure.ts";

export {
  BitSet,
  Fail,
  fail,
  failAt,
  failed,
  failureA,
  failureB,
  failureC,
  failureCode,
  failurePlace,
  Limit,
  place,
  resetFailure,
  setPlace,
  spend,
  U8Column,
  U32Column,
};
