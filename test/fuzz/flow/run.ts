/**
 * What a program of control flow gives, by its statements alone: all lanes of the workgroup go through them together, those
 * that jumped wait where the construct ends that they left. Operations between lanes are of those that came to them.
 */
import {
  type Flow,
  INVOCATIONS,
  type Lane,
  type LaneOp,
  OWN,
  type Statement,
  UNIFORMS,
  type Value,
  WORDS,
  wrap,
} from "./language.ts";

/** More statements than a program may take. */
const MOST = 60_000;
/** Why a program has no result that it must give. */
export class NotGiven extends Error {}

/** What a program starts with. */
export interface Data {
  /** WORDS for each invocation. */
  readonly a: Uint32Array;
  readonly u: Uint32Array;
  readonly push: readonly number[];
}

const isNumber = (value: Value): number => Number(value) >>> 0;

/** The values that each of the lanes of one subgroup gets, in their order. */
function together(op: LaneOp, values: readonly Value[]): Value[] {
  const words = values.map(isNumber);
  const fold = (f: (x: number, y: number) => number, from: readonly number[]): number =>
    from.reduce((x, y) => f(x, y) >>> 0);
  const signed = typeof values[0] === "number" && values.some((v) => Number(v) < 0);
  const all = (value: Value): Value[] => values.map(() => value);
  const add = (x: number, y: number): number => x + y;
  const or = (x: number, y: number): number => x | y;
  switch (op) {
    case "Add":
      return all(fold(add, words));
    case "Min":
    case "Max": {
      const numbers = signed ? values.map(Number) : words;
      return all(op === "Min" ? Math.min(...numbers) : Math.max(...numbers));
    }
    case "And":
      return all(fold((x, y) => x & y, words));
    case "Or":
      return all(fold(or, words));
    case "Xor":
      return all(fold((x, y) => x ^ y, words));
    case "InclusiveAdd":
      return words.map((_, k) => fold(add, words.slice(0, k + 1)));
    case "ExclusiveAdd":
      return words.map((_, k) => fold(add, [0, ...words.slice(0, k)]));
    case "InclusiveOr":
      return words.map((_, k) => fold(or, words.slice(0, k + 1)));
    case "BroadcastFirst":
      return all(values[0]!);
    case "Count":
      return all(values.filter(Boolean).length);
    case "Any":
      return all(values.some(Boolean));
    case "All":
      return all(values.every(Boolean));
    case "Elect":
      return values.map((_, k) => k === 0);
  }
}

class Run {
  #left = MOST;

  /** The lanes that are still under way behind the statements. */
  list(statements: readonly Statement[], lanes: readonly Lane[]): void {
    let here = lanes;
    for (const statement of statements) {
      here = here.filter(({ jump }) => jump === "");
      if (here.length === 0) return;
      if (--this.#left < 0) throw new NotGiven("the program takes too many statements");
      this.#one(statement, here);
    }
  }

  #one(statement: Statement, lanes: readonly Lane[]): void {
    switch (statement.kind) {
      case "do":
        for (const lane of lanes) statement.run(lane);
        break;
      case "lanes": {
        for (const half of [lanes.filter(({ id }) => id < 32), lanes.filter(({ id }) => id >= 32)]) {
          if (half.length === 0) continue;
          const given = together(
            statement.op,
            half.map((lane) => statement.of.value(lane)),
          );
          for (const [k, lane] of half.entries()) statement.to.put(lane, wrap(statement.to.type, given[k]!));
        }
        break;
      }
      case "if": {
        const taken = lanes.map((lane) => Boolean(statement.on.value(lane)));
        this.list(
          statement.yes,
          lanes.filter((_, k) => taken[k]),
        );
        this.list(
          statement.no ?? [],
          lanes.filter((_, k) => !taken[k]),
        );
        break;
      }
      case "loop":
        this.#loop(statement, lanes);
        break;
      case "switch":
        this.#switch(statement, lanes);
        break;
      case "jump":
        for (const lane of lanes) {
          if (statement.value !== undefined) lane.result = statement.value.value(lane);
          lane.jump = statement.to;
        }
        break;
      case "call":
        this.#call(statement, lanes);
        break;
      case "exchange": {
        if (lanes.length < INVOCATIONS) throw new NotGiven("a barrier that not all come to");
        const sent = new Map(lanes.map((lane) => [lane.id, statement.of.value(lane)]));
        const got = lanes.map((lane) => sent.get(Number(statement.from.value(lane)) & (INVOCATIONS - 1))!);
        for (const [k, lane] of lanes.entries()) statement.to.put(lane, got[k]!);
        break;
      }
      case "kill":
        throw new Error("fragments are not run here");
    }
  }

  #loop(loop: Statement & { kind: "loop" }, all: readonly Lane[]): void {
    const { form, counter, step, test, body } = loop;
    const count = (lanes: readonly Lane[]): void => {
      for (const { vars } of lanes) vars[counter] = wrap("uint", Number(vars[counter]) + step);
    };
    const going = (lanes: readonly Lane[]): Lane[] => lanes.filter((lane) => test.value(lane) === true);
    for (const { vars } of all) vars[counter] = 0;
    let lanes = [...all];
    while (lanes.length > 0) {
      if (form === "for" || form === "while") lanes = going(lanes);
      if (form !== "for") count(lanes);
      if (form === "ever") {
        const on = going(lanes);
        this.list(
          loop.leave,
          lanes.filter((lane) => !on.includes(lane)),
        );
      }
      this.list(body, lanes);
      if (form === "once") for (const lane of lanes) if (lane.jump === "") lane.jump = "break";
      lanes = lanes.filter((lane) => {
        const { jump } = lane;
        if (jump === "return") return false;
        lane.jump = "";
        return jump !== "break";
      });
      if (form === "for") count(lanes);
      if (form === "do") lanes = going(lanes);
      if (--this.#left < 0) throw new NotGiven("the program takes too many rounds");
    }
  }

  #switch({ selector, cases }: Statement & { kind: "switch" }, lanes: readonly Lane[]): void {
    const chosen = lanes.map((lane) => {
      const value = Number(selector.value(lane));
      const found = cases.findIndex(({ labels }) => labels.includes(value));
      return found >= 0 ? found : cases.findIndex(({ isDefault }) => isDefault);
    });
    for (const [k, { body }] of cases.entries())
      this.list(
        body,
        lanes.filter((_, n) => chosen[n]! >= 0 && chosen[n]! <= k),
      );
    for (const lane of lanes) if (lane.jump === "break") lane.jump = "";
  }

  #call({ to, callee, values, changed }: Statement & { kind: "call" }, lanes: readonly Lane[]): void {
    const { parameters, body } = callee;
    const given = lanes.map((lane) =>
      [...(changed === undefined ? [] : [changed]), ...values].map((v) => v.value(lane)),
    );
    for (const [k, lane] of lanes.entries()) {
      for (const [n, { name }] of parameters.entries()) lane.vars[name] = given[k]![n]!;
    }
    this.list(body, lanes);
    for (const lane of lanes) {
      lane.jump = "";
      if (changed !== undefined) changed.put(lane, lane.vars[parameters[0]!.name] as Value);
      to.put(lane, lane.result);
    }
  }
}

/** What `o` holds behind the program, WORDS for each invocation. */
export function run({ body }: Flow, { a, u, push }: Data): Uint32Array {
  const lanes = Array.from({ length: INVOCATIONS }, (_, id): Lane => {
    const vars: Lane["vars"] = {
      id,
      x: a[WORDS * id]!,
      a: Array.from(a.subarray(WORDS * id, WORDS * (id + 1))),
      u: Array.from(u.subarray(0, UNIFORMS)),
      push: [...push],
      o: Array.from({ length: WORDS }, () => 0),
      s: Array.from({ length: OWN }, (_, k) => id + k),
    };
    return { id, vars, jump: "", result: 0 };
  });
  new Run().list(body, lanes);
  return Uint32Array.from(lanes.flatMap(({ vars }) => (vars.o as Value[]).map(Number)));
}
