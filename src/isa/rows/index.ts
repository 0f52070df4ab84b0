import type { Row } from "../row.ts";
import { ds } from "./ds.ts";
import { exp } from "./exp.ts";
import { flat } from "./flat.ts";
import { globalRows } from "./global.ts";
import { mimg } from "./mimg.ts";
import { mtbuf } from "./mtbuf.ts";
import { mubuf } from "./mubuf.ts";
import { scratch } from "./scratch.ts";
import { smem } from "./smem.ts";
import { sop1 } from "./sop1.ts";
import { sop2 } from "./sop2.ts";
import { sopc } from "./sopc.ts";
import { sopk } from "./sopk.ts";
import { sopp } from "./sopp.ts";
import { vintrp } from "./vintrp.ts";
import { vop1 } from "./vop1.ts";
import { vop2 } from "./vop2.ts";
import { vop3 } from "./vop3.ts";
import { vop3b } from "./vop3b.ts";
import { vop3p } from "./vop3p.ts";
import { vopc } from "./vopc.ts";

/** Every row of every format. */
export const allRows: readonly Row[] = [
  sop1,
  sopc,
  sopp,
  sopk,
  sop2,
  vop1,
  vopc,
  vop3p,
  vop3,
  vop3b,
  smem,
  ds,
  mubuf,
  mtbuf,
  mimg,
  exp,
  vintrp,
  flat,
  scratch,
  globalRows,
  vop2,
].flat();
