/**
 * The op table of the SSA IR: the one place where an op's shape, flags, folding and meaning stand.
 *
 * Widths: `"1"` a boolean, `"32"` a 32-bit scalar, `"any"` the instruction's own width, `"vec"` 1 to 16 32-bit
 * components (as many as the instruction has, or the data source has), `""` no result.
 * A source that ends in `?` may be absent; `"any*"` / `"32*"` stand for any number of sources.
 */

/** Bits of `OpRow.flags`. */
export const OpFlag = {
  /** The result depends on the sources and immediates alone; unused ones may go, equal ones may merge. */
  Pure: 1 << 0,
  /** `op a, b` equals `op b, a` (the first two sources). */
  Commutative: 1 << 1,
  /** Works on f32 values; a source may take a neg or abs modifier in the back end. */
  Float: 1 << 2,
  /** Reads memory that this dispatch may write: not to be moved over a write or a barrier. */
  Reads: 1 << 3,
  /** Writes memory or orders it: never deleted, never moved over another `Reads` or `Writes`. */
  Writes: 1 << 4,
  /** Must be the last instruction of its block. */
  Jump: 1 << 5,
  /** Must not reach the back end: some lower-* pass removes it. */
  Lowered: 1 << 6,
  /** Always the same value in all lanes of a workgroup, whatever the control flow. */
  Uniform: 1 << 7,
  /** May differ from lane to lane even with uniform sources. */
  Divergent: 1 << 8,
  /** Has a fold expression. */
  Foldable: 1 << 9,
  /** A memory access with `base`: the byte address is the offset source plus `base`, without wrapping. */
  Offset: 1 << 10,
  /** Depends on which lanes are active: stays in its block, merges only there; goes when nobody reads it. */
  Wave: 1 << 11,
} as const;

/** `set` of a buffer access whose last source is not an array element but the address of the descriptor. */
export const dynamicSet = 0xffff_ffff;

/** Meaning of the `atomic` immediate. */
export const atomicOps = ["add", "umin", "umax", "imin", "imax", "and", "or", "xor", "swap", "cmpswap"] as const;

/** Names of the immediates; an instruction has up to four, in the row's order. */
export type ImmName =
  | "value"
  | "index"
  | "component"
  | "set"
  | "binding"
  | "base"
  | "atomic"
  | "var"
  | "bits"
  | "scope"
  | "storage";

export interface OpRow {
  readonly name: string;
  readonly dst: "" | "1" | "32" | "any" | "vec";
  readonly srcs: readonly string[];
  readonly imms: readonly ImmName[];
  readonly flags: number;
  /** AssemblyScript: raw bits `a`, `b`, `c` (`u32`) to the result's raw bits; `f(x)` bits to f32, `u(x)` f32 to bits with canonical NaN, `b1(x)`. */
  readonly fold: string | undefined;
  readonly prose: string;
}

const F = OpFlag;
const P = F.Pure;
const C = F.Pure | F.Commutative;
const PF = F.Pure | F.Float;
const CF = F.Pure | F.Commutative | F.Float;

function op(
  name: string,
  dst: OpRow["dst"],
  srcs: readonly string[],
  flags: number,
  prose: string,
  fold?: string,
  imms: readonly ImmName[] = [],
): OpRow {
  return { name, dst, srcs, imms, flags: fold === undefined ? flags : flags | F.Foldable, fold, prose };
}

const s1 = ["32"] as const;
const s2 = ["32", "32"] as const;
const s3 = ["32", "32", "32"] as const;
const v1 = ["vec"] as const;
const v2 = ["vec", "vec"] as const;
const any2 = ["any", "any"] as const;

/** Row i is op number i + 1; 0 is no op. New rows go to the end of their group: numbers are no contract. */
const makeRows = (): readonly OpRow[] => [
  // structure
  op("const", "any", [], P, "the bits `value`", undefined, ["value"]),
  op("undef", "any", [], P, "any value, but the same one at each use"),
  op("phi", "any", ["any*"], P, "source i on entry from predecessor i; all phis of a block read at once"),
  op("vec", "vec", ["32*"], P, "component i is source i"),
  op("extract", "32", ["vec"], P, "component `index` of a vector", undefined, ["index"]),
  op("select", "any", ["1", "any", "any"], P, "c ? a : b; both sides are values, neither is skipped", "a ? b : c"),
  op("if", "", ["1"], 0, "condition of an if node; belongs to the node, stands in no block"),
  // integers
  op("iadd", "32", s2, C, "a + b, wraps", "a + b"),
  op("isub", "32", s2, P, "a - b, wraps", "a - b"),
  op("imul", "32", s2, C, "low 32 bits of a * b", "a * b"),
  op("umul_hi", "32", s2, C, "high 32 bits of the unsigned product", "<u32>((<u64>a * <u64>b) >> 32)"),
  op("imul_hi", "32", s2, C, "high 32 bits of the signed product", "<u32>((<i64>(<i32>a) * <i64>(<i32>b)) >> 32)"),
  op("ineg", "32", s1, P, "-a, wraps", "0 - a"),
  op("iabs", "32", s1, P, "|a| as signed, wraps", "<i32>a < 0 ? 0 - a : a"),
  op("iand", "any", any2, C, "bitwise and", "a & b"),
  op("ior", "any", any2, C, "bitwise or", "a | b"),
  op("ixor", "any", any2, C, "bitwise exclusive or", "a ^ b"),
  op("inot", "any", ["any"], P, "bitwise not", "~a"),
  op("ishl", "32", s2, P, "a << (b & 31)", "a << (b & 31)"),
  op("ishr", "32", s2, P, "signed a >> (b & 31)", "<u32>(<i32>a >> <i32>(b & 31))"),
  op("ushr", "32", s2, P, "unsigned a >> (b & 31)", "a >> (b & 31)"),
  op("imin", "32", s2, C, "signed minimum", "<i32>a < <i32>b ? a : b"),
  op("imax", "32", s2, C, "signed maximum", "<i32>a > <i32>b ? a : b"),
  op("umin", "32", s2, C, "unsigned minimum", "a < b ? a : b"),
  op("umax", "32", s2, C, "unsigned maximum", "a > b ? a : b"),
  op("ubfe", "32", s3, P, "(a >> (b & 31)) & ((1 << (c & 31)) - 1)", "(a >> (b & 31)) & (((<u32>1) << (c & 31)) - 1)"),
  op("ibfe", "32", s3, P, "as ubfe, sign-extended from bit (c & 31) - 1; 0 when c & 31 is 0", "foldIbfe(a, b, c)"),
  op("bfm", "32", s2, P, "((1 << (a & 31)) - 1) << (b & 31)", "(((<u32>1) << (a & 31)) - 1) << (b & 31)"),
  op("bfi", "32", s3, P, "(a & b) | (~a & c): a picks bits of b, else c", "(a & b) | (~a & c)"),
  op("bitrev", "32", s1, P, "bits in reverse order", "foldBitrev(a)"),
  op("bitcount", "32", s1, P, "number of one bits", "popcnt<u32>(a)"),
  op("find_lsb", "32", s1, P, "number of trailing zeros; -1 for 0", "a == 0 ? 0xffffffff : ctz<u32>(a)"),
  op("uffbh", "32", s1, P, "number of leading zeros; -1 for 0", "a == 0 ? 0xffffffff : clz<u32>(a)"),
  op("iffbh", "32", s1, P, "leading bits equal to the sign bit; -1 for 0 and -1", "foldIffbh(a)"),
  // comparisons
  op("ieq", "1", s2, C, "a == b", "b1(a == b)"),
  op("ine", "1", s2, C, "a != b", "b1(a != b)"),
  op("ilt", "1", s2, P, "signed a < b", "b1(<i32>a < <i32>b)"),
  op("ige", "1", s2, P, "signed a >= b", "b1(<i32>a >= <i32>b)"),
  op("ult", "1", s2, P, "unsigned a < b", "b1(a < b)"),
  op("uge", "1", s2, P, "unsigned a >= b", "b1(a >= b)"),
  op("feq", "1", s2, CF, "ordered a == b", "b1(f(a) == f(b))"),
  op("fneu", "1", s2, CF, "a != b or a NaN among them", "b1(f(a) != f(b))"),
  op("flt", "1", s2, PF, "ordered a < b", "b1(f(a) < f(b))"),
  op("fge", "1", s2, PF, "ordered a >= b", "b1(f(a) >= f(b))"),
  // division, lowered in the IR
  op("udiv", "32", s2, P | F.Lowered, "unsigned quotient; any value for b = 0", "b == 0 ? 0xffffffff : a / b"),
  op("umod", "32", s2, P | F.Lowered, "unsigned remainder; any value for b = 0", "b == 0 ? a : a % b"),
  op("idiv", "32", s2, P | F.Lowered, "signed quotient towards 0; any value for b = 0 and overflow", "foldIdiv(a, b)"),
  op("irem", "32", s2, P | F.Lowered, "signed remainder with the sign of a", "foldIrem(a, b)"),
  op("imod", "32", s2, P | F.Lowered, "signed remainder with the sign of b", "foldImod(a, b)"),
  // f32, round to nearest even, denormals kept
  op("fadd", "32", s2, CF, "a + b", "u(f(a) + f(b))"),
  op("fsub", "32", s2, PF, "a - b", "u(f(a) - f(b))"),
  op("fmul", "32", s2, CF, "a * b", "u(f(a) * f(b))"),
  op("ffma", "32", s3, CF, "a * b + c, rounded once", "foldFma(a, b, c)"),
  op("fdiv", "32", s2, PF | F.Lowered, "a / b within 2.5 ulp"),
  op("fneg", "32", s1, PF, "sign bit flipped", "a ^ 0x80000000"),
  op("fabs", "32", s1, PF, "sign bit cleared", "a & 0x7fffffff"),
  op("ffloor", "32", s1, PF, "towards minus infinity", "u(floor<f32>(f(a)))"),
  op("fceil", "32", s1, PF, "towards plus infinity", "u(ceil<f32>(f(a)))"),
  op("ftrunc", "32", s1, PF, "towards 0", "u(trunc<f32>(f(a)))"),
  op("fround_even", "32", s1, PF, "to the nearest integer, ties to even", "u(nearest<f32>(f(a)))"),
  op("ffract", "32", s1, PF, "a - floor(a), always below 1"),
  op("fmin", "32", s2, CF, "minimum; the number where the other is NaN; -0 below +0", "foldFmin(a, b)"),
  op("fmax", "32", s2, CF, "maximum; the number where the other is NaN; -0 below +0", "foldFmax(a, b)"),
  op("fsat", "32", s1, PF, "clamped to 0..1; NaN gives 0", "foldFsat(a)"),
  op("fsqrt", "32", s1, PF, "square root within 1 ulp"),
  op("frsq", "32", s1, PF, "1 / square root within 1 ulp"),
  op("frcp", "32", s1, PF, "1 / a within 1 ulp"),
  op("fexp2", "32", s1, PF, "2 to the power a"),
  op("flog2", "32", s1, PF, "logarithm to base 2"),
  op("fsin", "32", s1, PF | F.Lowered, "sine of radians"),
  op("fcos", "32", s1, PF | F.Lowered, "cosine of radians"),
  op("fsin_turns", "32", s1, PF, "sine of a turns, 0 <= a < 1"),
  op("fcos_turns", "32", s1, PF, "cosine of a turns, 0 <= a < 1"),
  op("fldexp", "32", s2, P, "f32 a times 2 to the power of signed b"),
  op("ffrexp_mant", "32", s1, PF, "mantissa in [0.5, 1) with the sign of a; 0, Inf and NaN give themselves"),
  op("ffrexp_exp", "32", s1, PF, "signed integer exponent for ffrexp_mant; 0 for 0, Inf and NaN"),
  // conversions
  op("f2i", "32", s1, PF, "towards 0, saturating, NaN gives 0", "foldF2i(a)"),
  op("f2u", "32", s1, PF, "towards 0, saturating, NaN gives 0", "foldF2u(a)"),
  op("i2f", "32", s1, P, "signed to f32, nearest even", "u(<f32>(<i32>a))"),
  op("u2f", "32", s1, P, "unsigned to f32, nearest even", "u(<f32>a)"),
  op("b2i", "32", ["1"], P, "0 or 1", "a & 1"),
  op("b2f", "32", ["1"], P, "0.0 or 1.0", "a & 1 ? 0x3f800000 : 0"),
  op("f2f16", "32", s1, PF, "f32 to f16 in the low half, nearest even; high half 0", "foldF2f16(a)"),
  op("f162f", "32", s1, P, "f16 in the low half to f32; the high half is ignored", "foldF162f(a)"),
  // two 16-bit scalars in the halves of a word, each half for itself; one alone has 0 above. f16: nearest even, denormals kept
  op("hadd", "32", s2, C, "f16 a + b", "foldHalves(0, a, b, 0)"),
  op("hmul", "32", s2, C, "f16 a * b", "foldHalves(1, a, b, 0)"),
  op("hfma", "32", s3, C, "f16 a * b + c, rounded once", "foldHalves(2, a, b, c)"),
  op("hmin", "32", s2, C, "f16 minimum, as fmin", "foldHalves(3, a, b, 0)"),
  op("hmax", "32", s2, C, "f16 maximum, as fmax", "foldHalves(4, a, b, 0)"),
  op("hiadd", "32", s2, C, "a + b, wraps", "foldHalves(5, a, b, 0)"),
  op("hisub", "32", s2, P, "a - b, wraps", "foldHalves(6, a, b, 0)"),
  op("himul", "32", s2, C, "low 16 bits of a * b", "foldHalves(7, a, b, 0)"),
  op("hishl", "32", s2, P, "a << (b & 15)", "foldHalves(8, a, b, 0)"),
  op("hishr", "32", s2, P, "signed a >> (b & 15)", "foldHalves(9, a, b, 0)"),
  op("hushr", "32", s2, P, "unsigned a >> (b & 15)", "foldHalves(10, a, b, 0)"),
  op("himin", "32", s2, C, "signed minimum", "foldHalves(11, a, b, 0)"),
  op("himax", "32", s2, C, "signed maximum", "foldHalves(12, a, b, 0)"),
  op("humin", "32", s2, C, "unsigned minimum", "foldHalves(13, a, b, 0)"),
  op("humax", "32", s2, C, "unsigned maximum", "foldHalves(14, a, b, 0)"),
  op("pack_halves", "32", s2, P, "a's low half, b's low half above it", "(a & 0xffff) | (b << 16)"),
  // f16 of the low half, the high half ignored; high half of the result 0. Hardware's own functions: within 1 ulp
  op("hsqrt", "32", s1, P, "square root within 1 ulp"),
  op("hrsq", "32", s1, P, "1 / square root within 1 ulp"),
  op("hrcp", "32", s1, P, "1 / a within 1 ulp"),
  op("hexp2", "32", s1, P, "2 to the power a within 1 ulp"),
  op("hlog2", "32", s1, P, "logarithm to base 2 within 1 ulp"),
  op("hsin_turns", "32", s1, P, "sine of a turns; 0 where |a| > 256"),
  op("hcos_turns", "32", s1, P, "cosine of a turns; 1 where |a| > 256"),
  op("hfract", "32", s1, P, "a - floor(a), always below 1"),
  op("hfloor", "32", s1, P, "towards minus infinity", "foldF2f16(u(floor<f32>(f(foldF162f(a)))))"),
  op("hceil", "32", s1, P, "towards plus infinity", "foldF2f16(u(ceil<f32>(f(foldF162f(a)))))"),
  op("htrunc", "32", s1, P, "towards 0", "foldF2f16(u(trunc<f32>(f(foldF162f(a)))))"),
  op("hround_even", "32", s1, P, "to the nearest integer, ties to even", "foldF2f16(u(nearest<f32>(f(foldF162f(a)))))"),
  // f64: a pair of words, low half first
  op("dadd", "vec", v2, C, "a + b"),
  op("dmul", "vec", v2, C, "a * b"),
  op("dfma", "vec", ["vec", "vec", "vec"], C, "a * b + c, rounded once"),
  op("dmin", "vec", v2, C, "minimum, as fmin"),
  op("dmax", "vec", v2, C, "maximum, as fmax"),
  op("drcp", "vec", v1, P, "1 / a, at least 20 bits right"),
  op("drsq", "vec", v1, P, "1 / square root, at least 20 bits right"),
  op("dsqrt", "vec", v1, P, "square root, at least 20 bits right; right for 0, infinities and NaN"),
  op("dfloor", "vec", v1, P, "towards minus infinity"),
  op("dceil", "vec", v1, P, "towards plus infinity"),
  op("dtrunc", "vec", v1, P, "towards 0"),
  op("dround_even", "vec", v1, P, "to the nearest integer, ties to even"),
  op("dldexp", "vec", ["vec", "32"], P, "a times 2 to the power of signed b"),
  op("dfrexp_mant", "vec", v1, P, "mantissa, as ffrexp_mant"),
  op(
    "ddiv_fixup",
    "vec",
    ["vec", "vec", "vec"],
    P,
    "quotient a of c / b, or what IEEE says for zeros, infinities and NaN",
  ),
  op("f2d", "vec", s1, P, "f32 to f64"),
  op("i2d", "vec", s1, P, "signed word to f64"),
  op("u2d", "vec", s1, P, "unsigned word to f64"),
  op("dfrexp_exp", "32", v1, P, "exponent, as ffrexp_exp"),
  op("d2f", "32", v1, P, "f64 to f32, nearest even"),
  op("d2i", "32", v1, P, "towards 0, saturating, NaN gives 0"),
  op("d2u", "32", v1, P, "towards 0, saturating, NaN gives 0"),
  op("deq", "1", v2, C, "ordered a == b"),
  op("dneu", "1", v2, C, "a != b or a NaN among them"),
  op("dlt", "1", v2, P, "ordered a < b"),
  op("dge", "1", v2, P, "ordered a >= b"),
  // variables
  op("load_var", "any", [], F.Reads | F.Lowered, "value of local variable `var`", undefined, ["var"]),
  op("store_var", "", ["any"], F.Writes | F.Lowered, "sets local variable `var`", undefined, ["var"]),
  // memory. bits 8 or 16: one scalar of that size, a load's upper bits are 0; bits 0: words.
  // buffers (offset in bytes, then the descriptor array element where it is not 0; with `set` = dynamicSet a
  // descriptor_address in its place, or a pair of words: the address in memory, which wraps at 64 bits, and `base` below 2048)
  op("load_ubo", "vec", ["32", "32?"], P | F.Offset, "uniform buffer: offset, element", undefined, [
    "set",
    "binding",
    "base",
    "bits",
  ]),
  op("load_ssbo", "vec", ["32", "vec?"], F.Reads | F.Offset, "storage buffer: offset, element", undefined, [
    "set",
    "binding",
    "base",
    "bits",
  ]),
  op("store_ssbo", "", ["vec", "32", "vec?"], F.Writes | F.Offset, "data, offset, element", undefined, [
    "set",
    "binding",
    "base",
    "bits",
  ]),
  op(
    "ssbo_atomic",
    "vec",
    ["32", "vec", "vec?"],
    F.Writes | F.Offset | F.Divergent,
    "offset, data (one word or two), element; gives the old value",
    undefined,
    ["set", "binding", "base", "atomic"],
  ),
  op(
    "ssbo_atomic_cmpswap",
    "vec",
    ["32", "vec", "vec", "vec?"],
    F.Writes | F.Offset | F.Divergent,
    "offset, compare, data (one word or two), element; gives the old value",
    undefined,
    ["set", "binding", "base"],
  ),
  op("ssbo_size", "32", ["32?"], P, "bytes of the bound range; source: element", undefined, ["set", "binding"]),
  op(
    "descriptor_address",
    "32",
    ["32?"],
    P,
    "address of a buffer's descriptor in the window of 32-bit pointers; source: element",
    undefined,
    ["set", "binding"],
  ),
  op("load_push", "vec", ["32?"], P | F.Offset, "push constants at byte offset + `base`", undefined, ["base"]),
  // memory: tables of constants that the shader brings along
  op(
    "load_table",
    "vec",
    ["32"],
    P | F.Offset,
    "word of `table` at byte offset + `base`, which are inside",
    undefined,
    ["base"],
  ),
  // memory: workgroup
  op("load_shared", "vec", ["32"], F.Reads | F.Offset, "workgroup memory: byte offset", undefined, ["base", "bits"]),
  op("store_shared", "", ["vec", "32"], F.Writes | F.Offset, "data, byte offset", undefined, ["base", "bits"]),
  op(
    "shared_atomic",
    "vec",
    ["32", "vec"],
    F.Writes | F.Offset | F.Divergent,
    "offset, data (one word or two); gives the old value",
    undefined,
    ["base", "atomic"],
  ),
  op(
    "shared_atomic_cmpswap",
    "vec",
    ["32", "vec", "vec"],
    F.Writes | F.Offset | F.Divergent,
    "offset, compare, data (one word or two); gives the old value",
    undefined,
    ["base"],
  ),
  // memory of the invocation alone: local arrays. Byte offset, at most scratch less the access's bytes
  op(
    "load_scratch",
    "vec",
    ["32"],
    F.Reads | F.Offset | F.Divergent,
    "the invocation's scratch memory: byte offset",
    undefined,
    ["base", "bits"],
  ),
  op("store_scratch", "", ["vec", "32"], F.Writes | F.Offset, "data, byte offset", undefined, ["base", "bits"]),
  // ordering. storage bits: 1 buffers, 2 workgroup, 4 images. scope: SPIR-V's number
  op(
    "barrier",
    "",
    [],
    F.Writes,
    "all invocations of the workgroup arrive; then orders `storage` as memory_barrier",
    undefined,
    ["scope", "storage"],
  ),
  op(
    "memory_barrier",
    "",
    [],
    F.Writes,
    "orders this invocation's accesses to `storage`, acquire and release",
    undefined,
    ["scope", "storage"],
  ),
  // between the lanes of a wave; only active lanes take part
  op("ballot", "32", ["1"], F.Wave | F.Uniform, "bit l: lane l is active and its source is true"),
  op("read_first_lane", "32", s1, F.Wave | F.Uniform, "a in the first active lane"),
  op(
    "read_lane",
    "32",
    s2,
    F.Wave | F.Uniform,
    "a in lane b & 31, b the same in all active lanes; any value if inactive",
  ),
  op("shuffle", "32", s2, F.Wave | F.Divergent, "a in lane b & 31; any value if that lane is inactive"),
  op(
    "lane_xor",
    "32",
    s1,
    F.Wave | F.Divergent,
    "a in lane l ^ `index`, l the lane; any value if inactive",
    undefined,
    ["index"],
  ),
  op(
    "wave_reduce",
    "32",
    s1,
    F.Wave | F.Uniform,
    "a of all active lanes combined; `index`: 0 iadd, imul, imin, imax, umin, umax, iand, ior, ixor, fadd, fmul, fmin, fmax",
    undefined,
    ["index"],
  ),
  op(
    "wave_scan",
    "32",
    s1,
    F.Wave | F.Divergent,
    "a combined as in wave_reduce; `bits` 0 with all lanes before, 1 of all lanes before alone, 2 4 8 16 of the lane's cluster of that size",
    undefined,
    ["index", "bits"],
  ),
  op("load_lane_id", "32", [], P | F.Divergent, "number of the lane in its wave"),
  // system values
  op("load_local_id", "32", [], P | F.Divergent, "gl_LocalInvocationID `component`", undefined, ["component"]),
  op("load_workgroup_id", "32", [], P | F.Uniform, "gl_WorkGroupID `component`", undefined, ["component"]),
  op("load_num_workgroups", "32", [], P | F.Uniform, "gl_NumWorkGroups `component`", undefined, ["component"]),
  // fragment stage: i and j of a point by kind (0 persp sample, 1 center, 2 centroid, 4 linear sample, 5 center, 6 centroid;
  // the bits of SPI_PS_INPUT_ADDR), attributes of the primitive by location
  op("load_bary", "32", [], P | F.Divergent, "component 0 i, 1 j of kind `index`", undefined, ["index", "component"]),
  op("interp", "32", s2, P | F.Divergent, "attribute at location `index`, component, at i, j", undefined, [
    "index",
    "component",
  ]),
  op("interp_flat", "32", [], P | F.Divergent, "attribute at location `index` of the provoking vertex", undefined, [
    "index",
    "component",
  ]),
  op("load_frag_coord", "32", [], P | F.Divergent, "x, y, z in the window, w of the clip space", undefined, [
    "component",
  ]),
  op("load_front_face", "32", [], P | F.Divergent, "not 0 for front faces"),
  op("load_ancillary", "32", [], P | F.Divergent, "sample id in [11:8], layer in [26:16]"),
  op("load_sample_coverage", "32", [], P | F.Divergent, "samples that the primitive covers"),
  op(
    "quad_perm",
    "32",
    s1,
    F.Wave | F.Divergent,
    "a in lane (`index` >> 2 * l) & 3 of the quad, l the lane's place in it",
    undefined,
    ["index"],
  ),
  op(
    "demote",
    "",
    ["1?"],
    F.Writes,
    "the active lanes (with a source: where it is true) become helpers: they write and export nothing from here on",
  ),
  op("load_helper", "1", [], F.Wave | F.Divergent, "the lane is a helper"),
  // vertex stage
  op("load_vertex_id", "32", [], P | F.Divergent, "number of the vertex, without the base"),
  op("load_instance_id", "32", [], P | F.Divergent, "number of the instance, without the base"),
  op("load_draw", "32", [], P | F.Uniform, "component 0 base vertex, 1 draw number, 2 first instance", undefined, [
    "component",
  ]),
  op(
    "load_vertex",
    "vec",
    s1,
    P,
    "element a of the vertex buffer `binding`, from byte `base` on, in buffer format `bits`",
    undefined,
    ["binding", "base", "bits"],
  ),
  // exports. target: 0-7 colours, 8 depth (x) stencil (y) sample mask (z), 9 none, 12-15 position, 256 + location parameter.
  // bits: which of x, y, z, w the sources are [3:0], packed halves 4, last of its kind 5, EXEC is the pixel mask 6
  op("export", "", ["32*"], F.Writes, "to `index`", undefined, ["index", "bits"]),
  op(
    "pack_half_rtz",
    "32",
    s2,
    P,
    "two f32 to f16 towards 0, a in the low half",
    "foldF16Rtz(a) | (foldF16Rtz(b) << 16)",
  ),
  op("pack_unorm16", "32", s2, P, "two f32 of 0..1 to 16 bits unsigned normalised"),
  op("pack_snorm16", "32", s2, P, "two f32 of -1..1 to 16 bits signed normalised"),
  op(
    "pack_uint16",
    "32",
    s2,
    P,
    "two words to 16 bits, unsigned saturating",
    "min<u32>(a, 0xffff) | (min<u32>(b, 0xffff) << 16)",
  ),
  op("pack_sint16", "32", s2, P, "two words to 16 bits, signed saturating", "foldSint16(a) | (foldSint16(b) << 16)"),
  // images. Sources: element of the image's binding, element of the sampler's (constant 0 where there is none), data,
  // then the address in the order of the hardware: offset, bias, compare value, gradients, coordinates, LOD or mip or clamp.
  // `index`: dim [2:0], dmask [6:3], offset 7, bias 8, compare 9, gradients 10, LOD 11, LOD 0 12, clamp 13, gather 14,
  // mip 15, data dwords [18:16], atomic [23:20]. `set`, `binding`: image in the low half, sampler in the high half
  op(
    "image_sample",
    "vec",
    ["32*"],
    P,
    "filtered texel (gather: one component of four) that needs no other lane",
    undefined,
    ["index", "set", "binding"],
  ),
  op(
    "image_sample_quad",
    "vec",
    ["32*"],
    F.Wave | F.Divergent,
    "as image_sample, with the LOD from the coordinates of the quad",
    undefined,
    ["index", "set", "binding"],
  ),
  op(
    "image_query_lod",
    "vec",
    ["32*"],
    F.Wave | F.Divergent,
    "clamped and unclamped LOD that image_sample_quad would use",
    undefined,
    ["index", "set", "binding"],
  ),
  op("image_load", "vec", ["32*"], F.Reads, "texel at integer coordinates", undefined, ["index", "set", "binding"]),
  op("image_store", "", ["32*"], F.Writes, "sets the texel at integer coordinates", undefined, [
    "index",
    "set",
    "binding",
  ]),
  op(
    "image_atomic",
    "32",
    ["32*"],
    F.Writes | F.Divergent,
    "the old texel; atomic 9: compare and swap, new value first",
    undefined,
    ["index", "set", "binding"],
  ),
  op("image_size", "vec", ["32*"], P, "width, height, depth or layers, levels at the LOD in the address", undefined, [
    "index",
    "set",
    "binding",
  ]),
  op("image_samples", "32", ["32*"], P, "samples of a texel, from the descriptor", undefined, [
    "index",
    "set",
    "binding",
  ]),
  // texel buffers: index of the texel, element
  op("load_texel", "vec", ["32", "32?"], F.Reads, "texel, converted by the buffer's format", undefined, [
    "set",
    "binding",
  ]),
  op("store_texel", "", ["vec", "32", "32?"], F.Writes, "data, index, element", undefined, ["set", "binding"]),
  op(
    "texel_atomic",
    "32",
    ["32*"],
    F.Writes | F.Divergent,
    "index, element, data; atomic 9: compare and swap, new value first",
    undefined,
    ["set", "binding", "atomic"],
  ),
  op("texel_count", "32", ["32?"], P, "texels of the bound range; source: element", undefined, ["set", "binding"]),
  // the face of a cube map that x, y, z point at, and coordinates on it
  op("cube_id", "32", s3, P, "face number as a float"),
  op("cube_s", "32", s3, P, "s coordinate, not divided"),
  op("cube_t", "32", s3, P, "t coordinate, not divided"),
  op("cube_ma", "32", s3, P, "twice the major axis"),
  // jumps
  op("break", "", [], F.Jump, "leaves the innermost loop"),
  op("continue", "", [], F.Jump, "goes to the innermost loop's continue list; not inside that list"),
  op("end", "", [], F.Jump, "ends the invocation"),
];

/** Words that may follow an instruction, by bit of its flags. */
export const instrFlags = [
  /** Not to be contracted, reassociated or approximated (NoContraction). */
  "exact",
  /** iadd, imul, ishl: no unsigned wrap. Ops on halves: one scalar, whose high half is 0. */
  "nuw",
  /** A value that may differ between lanes, an if or loop that lanes may leave at different times. Set by `divergence`. */
  "div",
  /** Memory access qualifiers. */
  "coherent",
  "volatile",
  "nonwritable",
  /** Descriptor element index may be divergent. */
  "nonuniform",
  /** May reach memory that other bindings reach too (Aliased); without it each binding's memory is its own. */
  "aliased",
] as const;

export type InstrFlag = (typeof instrFlags)[number];

/** The rows and what is found in them by name. */
export interface OpTable {
  readonly rows: readonly OpRow[];
  readonly byName: ReadonlyMap<string, OpRow>;
  /** From 1. */
  readonly numbers: ReadonlyMap<string, number>;
}

let table: OpTable | undefined;

/** Made by the first call: a compile that prints no IR asks nothing of it. */
export function opTable(): OpTable {
  if (table !== undefined) return table;
  const rows = makeRows();
  table = {
    rows,
    byName: new Map(rows.map((row) => [row.name, row])),
    numbers: new Map(rows.map((row, i) => [row.name, i + 1])),
  };
  return table;
}
