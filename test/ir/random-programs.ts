import { Generator, type Value } from "../backend/generate.ts";

const variables = 3;

/**
 * Random programs with what each pass looks for beside what `Generator` makes anyway: local variables, divisions, vectors,
 * halves, known conditions, chains, values that leave loops. All floats here are small integers, so that one rounding or
 * two, a product with an inverse or a quotient make no difference.
 */
class Mixture extends Generator {
  protected override readonly variables = ` vars=${Array.from({ length: variables }, () => 32).join(",")}`;
  /** Whether numbers of floats may be as the base has them: chains that round. */
  private readonly rounds: boolean;

  constructor(seed: number, budget: number, rounds: boolean) {
    super(seed, budget);
    this.rounds = rounds;
  }

  protected override start(live: Value[]): void {
    for (let k = 0; k < variables; k++) this.lines.push(`  store_var %${this.pick(live).name} var=${k}`);
    for (const idiom of this.idioms) live.push(idiom(live));
  }

  protected override straight(live: Value[]): void {
    super.straight(live);
    const count = Math.floor(this.next() * 3);
    for (let k = 0; k < count; k++) live.push(this.pick(this.idioms)(live));
  }

  /** The counter is the same in all lanes inside alone: they may have left in different rounds. */
  protected override afterLoop(live: Value[], head: readonly Value[]): void {
    live.push(...head);
  }

  protected override float(live: readonly Value[]): Value {
    return this.rounds ? super.float(live) : this.product(live);
  }

  private constant(bits: number): Value {
    return this.value(`const ${bits}`, false);
  }
  /** `op` of values, divergent where one is. */
  private of(op: string, sources: readonly Value[], width = 32): Value {
    return this.value(
      `${op} ${sources.map(({ name }) => `%${name}`).join(", ")}`,
      sources.some(({ div }) => div),
      width,
    );
  }
  private masked(live: readonly Value[], mask: number): Value {
    return this.of("iand", [this.pick(live), this.constant(mask)]);
  }
  private open(condition: Value): void {
    this.lines.push(`  if %${condition.name}${condition.div ? " div" : ""} {`);
    this.block();
  }
  private otherwise(): void {
    this.lines.push("  } else {");
    this.block();
  }
  private close(): void {
    this.lines.push("  }");
    this.block();
  }
  /** Offset of word k of the lane's own eight in binding 2. */
  private own(k: number): Value {
    const base = this.of("ishl", [{ name: "index", div: true }, this.constant(5)]);
    return this.of("iadd", [base, this.constant(4 * k)]);
  }

  /** a * b + c of numbers below 256: exact. */
  private product(live: readonly Value[]): Value {
    const [a, b, c] = [0, 1, 2].map(() => this.of("u2f", [this.masked(live, 255)])) as [Value, Value, Value];
    const sum = this.of(this.pick(["fadd", "fsub"]), [this.of("fmul", [a, b]), c]);
    return this.of("f2i", [sum]);
  }

  private readonly idioms: readonly ((live: Value[]) => Value)[] = [
    // A variable read and written.
    (live) => {
      const slot = Math.floor(this.next() * variables);
      const old = this.value(`load_var var=${slot}`, true);
      this.lines.push(`  store_var %${this.of("iadd", [old, this.pick(live)]).name} var=${slot}`);
      return old;
    },
    // A component of a vector; a choice between equals.
    (live) => {
      const parts = [this.pick(live), this.pick(live)] as const;
      const vector = this.name();
      this.lines.push(`  %${vector}:32x2 = vec %${parts[0].name}, %${parts[1].name} div`);
      const part = this.value(`extract %${vector} index=1`, true);
      return this.value(`select %${this.condition(live, true).name}, %${part.name}, %${part.name}`, true);
    },
    // Constants.
    () => this.of(this.pick(["imul", "ixor", "isub"]), [this.constant(77), this.constant(1234567)]),
    // Quotients and remainders, of any divisor but 0.
    (live) => {
      const divisor = this.chance(0.5)
        ? this.constant(this.pick([3, 7, 10, 641, 0x80000001]))
        : this.of("ior", [this.pick(live), this.constant(1)]);
      return this.of(this.pick(["udiv", "umod"]), [this.pick(live), divisor]);
    },
    // Signed, of numbers that are never negative: for opt-range.
    (live) => this.of("idiv", [this.masked(live, 0xfff), this.constant(9)]),
    // A float by a power of two, which is exact.
    (live) => {
      const a = this.of("u2f", [this.masked(live, 255)]);
      return this.of("f2i", [this.of("fdiv", [a, this.constant(this.pick([0x3e800000, 0x40000000]))])]);
    },
    (live) => this.product(live),
    // A bound that decides nothing.
    (live) => this.of("umin", [this.masked(live, 31), this.constant(40)]),
    // Constants of a chain apart from each other.
    (live) => {
      const a = this.of("iadd", [this.pick(live), this.constant(5)]);
      return this.of("iadd", [a, this.of("iadd", [this.pick(live), this.constant(7)])]);
    },
    // Halves in floats: sums of integers below 256 are exact.
    (live) => {
      const [a, b] = [0, 1].map(() =>
        this.of("f162f", [this.of("f2f16", [this.of("u2f", [this.masked(live, 255)])])]),
      ) as [Value, Value];
      return this.of("f2f16", [this.of("fadd", [a, b])]);
    },
    // Both halves of words, in one word.
    (live) => {
      const [v, w] = [this.pick(live), this.pick(live)] as const;
      const [low, sixteen] = [this.constant(0xffff), this.constant(16)] as const;
      const down = this.of("iand", [this.of("iadd", [this.of("iand", [v, low]), this.of("iand", [w, low])]), low]);
      const up = this.of("iadd", [this.of("ushr", [v, sixteen]), this.of("ushr", [w, sixteen])]);
      return this.of("ior", [down, this.of("ishl", [up, sixteen])]);
    },
    // One word of another lane that has the same.
    (live) => this.of("read_first_lane", [this.pick(live.filter(({ div }) => !div))]),
    // What was stored is read; two neighbours are read.
    (live) => {
      this.lines.push(`  store_ssbo %${this.pick(live).name}, %${this.own(0).name} set=0 binding=2 base=0`);
      const at = this.own(0).name;
      const parts = [0, 4].map((base) => this.value(`load_ssbo %${at} set=0 binding=2 base=${base}`, true));
      return this.of("ixor", parts);
    },
    (live) => {
      const lane = this.of("ishl", [{ name: "lane", div: true }, this.constant(5)]).name;
      this.lines.push(`  store_shared %${this.pick(live).name}, %${lane} base=8`);
      return this.value(`load_shared %${lane} base=8`, true);
    },
    // A buffer behind an address that is known.
    (live) => {
      const address = this.value("descriptor_address set=0 binding=0", false);
      const offset = this.of("ishl", [this.masked(live, 63), this.constant(2)]);
      return this.value(`load_ssbo %${offset.name}, %${address.name} set=4294967295 binding=0 base=0`, true);
    },
    // One component of a texel.
    (live) => {
      const texel = this.name();
      this.lines.push(`  %${texel}:32x4 = load_texel %${this.masked(live, 15).name} set=0 binding=0 div`);
      return this.value(`extract %${texel} index=1`, true);
    },
    // A known way, and an if that does nothing.
    (live) => {
      const known = this.value("const true", false, 1);
      this.open(known);
      const value = this.of("ineg", [this.pick(live)]);
      this.otherwise();
      this.close();
      const phi = this.value(`phi %${value.name}, %${this.pick(live).name}`, true);
      this.open(this.condition(live, true));
      this.otherwise();
      this.close();
      return phi;
    },
    // A flag out of both sides; small sides.
    (live) => {
      const c = this.condition(live, true);
      this.open(c);
      const yes = this.condition(live, true);
      this.otherwise();
      const no = this.condition(live, true);
      this.close();
      const flag = this.value(`phi %${yes.name}, %${no.name}`, true, 1);
      return this.of("select", [flag, this.pick(live), this.pick(live)]);
    },
    // The same question twice, too much in each side to ask it once.
    (live) => {
      const c = this.condition(live, true);
      const at = this.own(3).name;
      for (let k = 0; k < 2; k++) {
        this.open(c);
        this.lines.push(`  store_ssbo %${this.pick(live).name}, %${at} set=0 binding=2 base=0`);
        this.otherwise();
        this.close();
      }
      return this.value(`load_ssbo %${at} set=0 binding=2 base=0`, true);
    },
    // Arithmetic that one side alone reads.
    (live) => {
      const product = this.of("imul", [this.pick(live), this.pick(live)]);
      const at = this.own(4).name;
      this.open(this.condition(live, true));
      this.lines.push(`  store_ssbo %${product.name}, %${at} set=0 binding=2 base=0`);
      this.otherwise();
      this.close();
      return this.value(`load_ssbo %${at} set=0 binding=2 base=0`, true);
    },
    // Three rounds, with a product that does not change in them.
    (live) => {
      const [zero, one, three] = [this.constant(0), this.constant(1), this.constant(3)] as const;
      const [a, b] = [this.pick(live), this.pick(live)] as const;
      const [k, next, sum, total] = [this.name(), this.name(), this.name(), this.name()] as const;
      this.lines.push("  loop {");
      this.block();
      this.lines.push(`  %${k}:32 = phi %${zero.name}, %${next}`, `  %${sum}:32 = phi %${a.name}, %${total} div`);
      this.open(this.of("uge", [{ name: k, div: false }, three], 1));
      this.lines.push("  break");
      this.otherwise();
      this.close();
      const fixed = this.of("imul", [a, b]);
      const turned = this.of("ixor", [fixed, { name: k, div: false }]);
      this.lines.push(`  %${total}:32 = iadd %${sum}, %${turned.name} div`, "  } cont {");
      this.block();
      this.lines.push(`  %${next}:32 = iadd %${k}, %${one.name}`, "  }");
      this.block();
      return { name: sum, div: true };
    },
  ];
}

/** As `generateProgram`, over two variables more; `rounds`: with floats that one rounding or two tell apart. */
export function generateMixture(seed: number, budget: number, rounds: boolean): string {
  return new Mixture(seed, budget, rounds).program().text;
}
