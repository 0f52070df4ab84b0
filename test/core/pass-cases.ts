import type { Stage } from "../../src/codeobj/index.ts";

/**
 * A small shader for each pass, with what its code shows of the pass: it was there at each of its levels, and nothing else
 * does its work where it is left out.
 */
export interface PassCase {
  readonly pass: string;
  /** Levels whose list has the pass. */
  readonly levels: readonly (0 | 1 | 2)[];
  /** What the pass does here, and by which text that is seen. */
  readonly about: string;
  readonly stage?: Stage;
  /** Declarations of GLSL before `main`. */
  readonly before?: string;
  /** GLSL of `main` in the frame of `passes.test.ts`: `a` read, `r` and `f` written, `p` and `q` pushed, `i` the lane. */
  readonly body?: string;
  /** A whole module instead. */
  readonly assembly?: string;
  /** Counted in the lines of the code, which are joined by line ends. */
  readonly pattern: RegExp;
  readonly count: number;
  /** Without the pass: the count again, or the rule that the core itself breaks. */
  readonly without: number | "lowered";
}

const load = /buffer_load_/;
const all = [0, 1, 2] as const;
const optimized = [1, 2] as const;
const full = [2] as const;

/** A pointer that has been in a variable: its descriptor is known when the variable is none any more. */
const pointerInVariable = `OpCapability Shader
OpCapability VariablePointers
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index %a %r
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %r DescriptorSet 0
OpDecorate %r Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%words = OpTypeRuntimeArray %u32
%block = OpTypeStruct %words
%pblock = OpTypePointer StorageBuffer %block
%pword = OpTypePointer StorageBuffer %u32
%pslot = OpTypePointer Function %pword
%pinput = OpTypePointer Input %u32
%c0 = OpConstant %u32 0
%index = OpVariable %pinput Input
%a = OpVariable %pblock StorageBuffer
%r = OpVariable %pblock StorageBuffer
%main = OpFunction %void None %fn
%start = OpLabel
%slot = OpVariable %pslot Function
%lane = OpLoad %u32 %index
%one = OpAccessChain %pword %a %c0 %lane
OpStore %slot %one
%p = OpLoad %pword %slot
%v = OpLoad %u32 %p
%out = OpAccessChain %pword %r %c0 %lane
OpStore %out %v
OpReturn
OpFunctionEnd
`;

export const passCases: readonly PassCase[] = [
  {
    pass: "lower-vars-to-ssa",
    levels: all,
    about: "a local variable is a register",
    body: "uint x = 1u; if (a[i] > 4u) x = a[i + 1u]; r[i] = x;",
    pattern: /scratch_/,
    count: 0,
    without: "lowered",
  },
  {
    pass: "lower-idiv",
    levels: all,
    about: "a division by 7 is a multiplication with its reciprocal",
    body: "r[i] = a[i] / 7u;",
    pattern: /v_mul_hi_u32/,
    count: 1,
    without: "lowered",
  },
  {
    pass: "lower-transcendentals",
    levels: all,
    about: "the hardware's sine takes revolutions, of which the fraction matters",
    body: "f[i] = sin(f[i]);",
    pattern: /v_fract_f32.*\nv_sin_f32/,
    count: 1,
    without: "lowered",
  },
  {
    pass: "lower-lcssa",
    levels: all,
    about: "a counter that is the same for all lanes in the loop is kept for each as it leaves: before EXEC loses it",
    body: "uint n = a[i]; uint k = 0u; while (true) { if (k * k >= n) break; k += 3u; } r[i] = k;",
    pattern: /v_mov_b32_e32 v\d+, s\d+\ns_andn2_b32 exec_lo/,
    count: 1,
    without: 0,
  },
  {
    pass: "divergence",
    levels: all,
    about: "what a lane loads at its own place is not read for all of them",
    body: "r[i] = a[i] ^ 0x1234567u;",
    pattern: /v_readfirstlane_b32|s_buffer_load/,
    count: 0,
    without: 2,
  },
  {
    pass: "lower-bool-phis",
    levels: all,
    about: "a flag that lanes flip apart is a VGPR: a mask would be written whole by the last of them",
    body: "bool odd = false; for (uint k = 0u; k < p; k++) { if (a[k + i] > 7u) odd = !odd; } if (odd) r[i] = 1u;",
    pattern: /v_cmpx_ne_u32_e32 0, v\d+\ns_cbranch_execz/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-dce",
    levels: all,
    about: "a load that nobody reads goes",
    body: "uint x = a[i]; uint y = a[i + 5u] * x; r[i] = x;",
    pattern: load,
    count: 1,
    without: 2,
  },
  {
    pass: "opt-copy-prop",
    levels: optimized,
    about: "y is x on both ways, as it turns out: the difference is 0 and x is not loaded",
    body: "uint x = a[i]; uint y = x; if (q > 5u) { y = (x ^ 5u) ^ 5u; r[i + 64u] = p; } r[i] = y - x;",
    pattern: load,
    count: 0,
    without: 1,
  },
  {
    pass: "opt-const-fold",
    levels: optimized,
    about: "calls with constants: (13 * 3 + 1) ^ (2 * 3 + 1) = 40 ^ 7 = 47",
    before: "uint g(uint x) { return x * 3u + 1u; }",
    body: "r[i] = g(13u) ^ g(2u);",
    pattern: /v_mov_b32_e32 v\d+, 47\n/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-algebraic",
    levels: optimized,
    about: "flipping the same bits twice",
    body: "r[i] = (a[i] ^ 0xffu) ^ 0xffu;",
    pattern: /v_xor/,
    count: 0,
    without: 1,
  },
  {
    pass: "opt-cse",
    levels: optimized,
    about: "one product for two places",
    body: "uint x = a[i]; r[i] = (x * p) ^ ((x * p) >> 3u);",
    pattern: /v_mul_lo_u32/,
    count: 1,
    without: 2,
  },
  {
    pass: "opt-dead-cf",
    levels: optimized,
    about: "a loop whose sum nobody reads goes",
    body: "uint n = 0u; for (uint k = 0u; k < 1000u; k++) n += k * p; r[i] = q;",
    pattern: /s_cbranch/,
    count: 0,
    without: 2,
  },
  {
    pass: "opt-if-convert",
    levels: optimized,
    about: "both sides and a select",
    body: "uint x = a[i]; uint y; if (x > 3u) y = x ^ 77u; else y = x + 99u; r[i] = y;",
    pattern: /v_cndmask_b32/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-half",
    levels: optimized,
    about: "a product of halves in their own width",
    before: "layout(std430, binding = 3) buffer H { float16_t h[]; };",
    body: "h[i] = h[i] * h[i + 32u];",
    pattern: /v_pk_mul_f16|v_mul_f16/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-contract-fma",
    levels: optimized,
    about: "a product and a sum are one instruction",
    body: "f[i] = f[i] * f[i + 32u] + f[i + 64u];",
    pattern: /v_fma/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-bindings",
    levels: optimized,
    about: "a pointer out of a variable: its descriptor is the binding's, no address is computed",
    assembly: pointerInVariable,
    pattern: /s_add_u32/,
    count: 0,
    without: 2,
  },
  {
    pass: "opt-offsets",
    levels: optimized,
    about: "5 words on: in the instruction",
    body: "r[i] = a[i + 5u];",
    pattern: /buffer_load_dword .* offset:20/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-narrow",
    levels: optimized,
    about: "of the texel comes y alone",
    stage: "fragment",
    before: "layout(binding = 3) uniform sampler2D s;",
    body: "o = vec4(texture(s, vec2(0.5)).y);",
    pattern: /image_sample v\d+, .* dmask:0x2 /,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-jump-thread",
    levels: full,
    about: "two ifs of one condition are one",
    body: "uint x = a[i]; bool c = x > p; if (c) r[i] = a[i + 32u]; if (c) r[i + 64u] = x;",
    pattern: /s_cbranch_execz/,
    count: 1,
    without: 2,
  },
  {
    pass: "opt-unroll",
    levels: full,
    about: "three rounds are three loads",
    body: "uint x = 0u; for (uint k = 0u; k < 3u; k++) x += a[i + 32u * k]; r[i] = x;",
    pattern: load,
    count: 3,
    without: 1,
  },
  {
    pass: "opt-memory",
    levels: full,
    about: "what was just written to workgroup memory need not be read, and then not be written",
    before: "shared uint s[64];",
    body: "s[i] = a[i]; r[i] = s[i];",
    pattern: /ds_(read|write)_b32/,
    count: 0,
    without: 2,
  },
  {
    pass: "opt-range",
    levels: full,
    about: "2 or a number below 8 is below 9",
    body: "uint y = 2u; if (q > 5u) { y = a[i] & 7u; r[i + 64u] = 1u; } r[i] = min(y, 9u) + 1u;",
    pattern: /v_min_u32/,
    count: 0,
    without: 1,
  },
  {
    pass: "opt-reassociate",
    levels: full,
    about: "5 and 7 are 12",
    body: "r[i] = (a[i] + 5u) + (a[i + 1u] + 7u);",
    pattern: /v_add3_u32 .*, 12/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-wave",
    levels: full,
    about: "a push constant of another lane is the push constant",
    body: "r[i] = subgroupShuffle(p, a[i]);",
    pattern: /ds_bpermute_b32/,
    count: 0,
    without: 1,
  },
  {
    pass: "opt-vectorize",
    levels: full,
    about: "two words beside each other are loaded as two",
    body: "r[i] = a[4u * i] ^ a[4u * i + 1u];",
    pattern: /buffer_load_dwordx2/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-pack",
    levels: full,
    about: "products and sums of both halves of a word by one instruction",
    body: `uint v = a[i]; uint w = a[i + 32u];
r[i] = ((((v & 0xffffu) * 3u) + (w & 0xffffu)) & 0xffffu) | ((((v >> 16) * 3u) + (w >> 16)) << 16);`,
    pattern: /v_pk_mad_u16/,
    count: 1,
    without: 0,
  },
  {
    pass: "opt-licm",
    levels: full,
    about: "a product of what the loop does not change does not stand behind the branch into it",
    body: "uint x = a[i]; for (uint k = 0u; k < p; k++) r[i + 32u * k] = x * 0x12345u;",
    pattern: /s_cbranch_scc0[\s\S]*?v_mul_lo_u32/,
    count: 0,
    without: 1,
  },
  {
    pass: "opt-sink",
    levels: full,
    about: "a product that the branch alone reads stands behind the skip",
    body: "uint x = a[i]; uint y = x * 0x12345u; if (x > p) { r[i] = y; r[i + 32u] = a[y]; }",
    pattern: /s_cbranch_execz[\s\S]*?v_mul_lo_u32/,
    count: 1,
    without: 0,
  },
];
