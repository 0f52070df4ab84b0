import { fillHoles } from "../base/index.ts";
import { invariantRows, opTable, passRows } from "../ir/index.ts";
import { coreCodes, limitTexts, parameterText, unsupportedTexts } from "./codes.ts";
import type { CoreFailure, CoreRequest } from "./interface.ts";

/** The numbers of a failure as the core has them. */
export interface RawFailure {
  readonly code: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly fileId: number;
  readonly line: number;
  readonly column: number;
}

type CodeName = keyof typeof coreCodes;

function named(raw: RawFailure, code: CodeName, values: Readonly<Record<string, string | number>>): CoreFailure {
  const { fileId, line, column } = raw;
  return { code, message: fillHoles(coreCodes[code].text, values), fileId, line, column };
}

/** True for failures that are our own bugs: the host throws `Bug` for them. */
export function isBug(failure: CoreFailure): boolean {
  return failure.code in coreCodes && coreCodes[failure.code as CodeName].blame === "bug";
}

/** A raw failure as a row of the code table with its holes filled. `opName` gives SPIR-V opcodes their names. */
export function describeFailure(
  raw: RawFailure,
  request: Pick<CoreRequest, "stage" | "entryPoint">,
  opName: (opcode: number) => string,
): CoreFailure {
  switch (raw.code) {
    case 1:
      return named(raw, "CORE_UNSUPPORTED", { what: opName(raw.a) });
    case 2: {
      const text = unsupportedTexts[raw.a - 1] ?? `feature ${raw.a}`;
      return named(raw, "CORE_UNSUPPORTED", {
        what: fillHoles(text, { value: raw.b, op: opName(raw.b), width: raw.c }),
      });
    }
    case 3: {
      const what =
        raw.a === 2
          ? "an id is used where it is not defined, or with the wrong type"
          : `bad operand near word ${raw.b}`;
      return named(raw, "CORE_MALFORMED", { what });
    }
    case 4:
      if (raw.a === 9) return named(raw, "CORE_LIMIT_TIME", {});
      if (raw.a >= 13) return named(raw, "CORE_LIMIT", { limit: raw.c, what: limitTexts[raw.a - 1] ?? "" });
      return named(raw, "CORE_LIMIT", { limit: raw.b, what: limitTexts[raw.a - 1] ?? `(limit ${raw.a})` });
    case 5: {
      const pass = passRows[raw.a - 1]?.name ?? "reading";
      const { name, text } = invariantRows[raw.b - 1] ?? {
        name: `rule ${raw.b}`,
        text: "host and core differ in version",
      };
      return named(raw, "CORE_INVALID_IR", { pass, rule: name, text, where: raw.c });
    }
    case 6:
      return named(raw, "CORE_OUT_OF_REGISTERS", { limit: raw.b, what: raw.a === 1 ? "vector" : "scalar" });
    case 7:
      return named(raw, "CORE_NO_ENTRY_POINT", { stage: request.stage, name: request.entryPoint });
    case 8: {
      const op = opTable().rows[raw.a - 1]?.name ?? `operation ${raw.a}`;
      const direction = op === "export" ? "output" : op === "interp" || op === "interp_flat" ? "input" : undefined;
      const what = direction !== undefined && raw.b === 1 ? parameterText(direction, raw.c) : `${op} (case ${raw.b})`;
      return named(raw, "CORE_UNSUPPORTED", { what });
    }
    default:
      return named(raw, "CORE_INVALID_MACHINE", { phase: `${raw.a}.${raw.b}`, where: raw.c });
  }
}
