import type { Program } from "./programs.ts";

/**
 * A program for each rule about what must stay defined around undefined or unreached code: R1 to R26, in the order of the
 * rules (loops, masks, switches, blocks, nests; helpers, R9, R10 and R21, are in `test/ir/stage-cases.ts`; undefined values, memory, identities,
 * shapes of SPIR-V). `a[0]` is 0 in each run, which the compiler cannot know.
 */

const scratch = new DataView(new ArrayBuffer(4));
const bits = (x: number): number => {
  scratch.setFloat32(0, x);
  return scratch.getUint32(0);
};
const f = Math.fround;
/** Bits of x are kept whatever the undefined value is. */
const kept = "#define S(v) uint(((x | (v)) & x) == x)\n";
const table = (seed: number): number[] => Array.from({ length: 256 }, (_, k) => Math.imul(k + seed, 0x9e3779b1) >>> 7);
const glslTable = (name: string, seed: number): string =>
  `const uint ${name}[256] = uint[256](${table(seed)
    .map((v) => `${v}u`)
    .join(", ")});\n`;
const nestedLoops = 40;

/** Start of a module over the buffers of `run.test.ts`; then types, constants and functions, `%main` among them. */
const module = (body: string): string => `OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %words ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %r DescriptorSet 0
OpDecorate %r Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%v2 = OpTypeVector %uint 2
%v3 = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%bp = OpTypePointer Uniform %block
%wp = OpTypePointer Uniform %uint
%rp = OpTypePointer Uniform %words
%ip = OpTypePointer Input %v3
%lp = OpTypePointer Function %uint
%a = OpVariable %bp Uniform
%r = OpVariable %bp Uniform
%id = OpVariable %ip Input
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c2 = OpConstant %uint 2
%c3 = OpConstant %uint 3
%c4 = OpConstant %uint 4
%c7 = OpConstant %uint 7
%c11 = OpConstant %uint 11
${body}`;
/** Reads of the invocation's number %i and its word %x, and of the zero. */
const reads = `%idv = OpLoad %v3 %id
%i = OpCompositeExtract %uint %idv 0
%xp = OpAccessChain %wp %a %c0 %i
%x = OpLoad %uint %xp
%zp = OpAccessChain %wp %a %c0 %c0
%zero = OpLoad %uint %zp
%out = OpAccessChain %wp %r %c0 %i`;

export const robustness: readonly Program[] = [
  {
    name: "R1: loops that end by something uniform or never",
    before: "uint g(uint n) { while (true) { if (n > 10u) return n; n += 3u; } return 0u; }",
    body: `uint n = a[0]; while (true) { if (n >= 3u) { y = 5u; break; } n++; }
      for (uint k = 0u; k < a[0]; ) { y = 99u; }
      if (a[0] == 77u) for (;;) y += 1u;
      y += g(x & 7u) * 10u;`,
    expect: (_, x) => {
      let n = x & 7;
      while (n <= 10) n += 3;
      return 5 + n * 10;
    },
  },
  {
    name: "R1: code behind a function that never returns, in a branch that is not taken",
    before: "bool on; void never() { for (;;) { } }",
    body: `if (a[0] == 5u) { never(); for (int k = 0; k < 8; ++k) { } if (on) on = false; while (on) { } y = 2u; }
      y += 3u;`,
    expect: () => 3,
  },
  {
    name: "R2: a return inside loops, a switch and a function",
    before: `uint g(uint n) { for (;;) { for (uint j = 0u;; j++) { switch ((n + j) % 4u) { case 0u: return n * 10u + j;
      case 1u: if (n > 40u) return 7u; break; default: break; } if (j > 1u) break; } n++; } }`,
    body: "y = g(x % 64u) + 1u;",
    expect: (_, x) => {
      for (let n = x % 64; ; n++) {
        for (let j = 0; ; j++) {
          if ((n + j) % 4 === 0) return n * 10 + j + 1;
          if ((n + j) % 4 === 1 && n > 40) return 8;
          if (j > 1) break;
        }
      }
    },
  },
  {
    name: "R3: continue in do-while(false) goes to the condition",
    body: "uint k = 0u; do { k++; if ((x & 1u) != 0u) continue; y = 7u; } while (false); y = y * 10u + k;",
    expect: (_, x) => ((x & 1) !== 0 ? 1 : 71),
  },
  {
    name: "R4: switches: labels below zero, no match, constant selector, continue, breaks of the inner one",
    body: `for (int k = -2; k < 4; k++) {
        switch (k) { case -2: case -1: y += 1u; break; case 0: continue; case 1: default: y += 10u; case 2: y += 100u; break; }
        if (k == 3) break; y += 1000u; }
      switch (7) { case 3: y = 0u; break; }
      switch (2) { case 2: y += 5u; break; default: y = 0u; }
      switch (int(x % 5u) - 2) { case -2: y += 1u << 16; case -1: y += 2u << 16; break; case 1: break; default: y += 4u << 16; }`,
    // -2, -1: 1 each; 1: 110; 2: 100; 3: 110; 1000 four times; 5.
    expect: (_, x) => 4327 + ([3, 2, 4, 0, 4][x % 5] ?? 0) * 65536,
  },
  {
    name: "R5: merges and continue targets that nothing reaches, both arms to one block",
    body: "",
    assembly: module(`%main = OpFunction %void None %fn
%e = OpLabel
${reads}
%same = OpIEqual %bool %zero %x
OpSelectionMerge %m0 None
OpBranchConditional %same %m0 %m0
%m0 = OpLabel
OpBranch %h
%h = OpLabel
%n = OpPhi %uint %x %m0 %n1 %c
OpLoopMerge %lm %c None
OpBranch %b
%b = OpLabel
OpBranch %lm
%c = OpLabel
%n1 = OpIAdd %uint %n %c1
OpBranch %h
%lm = OpLabel
%odd = OpBitwiseAnd %uint %x %c1
%isodd = OpINotEqual %bool %odd %c0
OpSelectionMerge %never None
OpBranchConditional %isodd %yes %no
%yes = OpLabel
OpStore %out %n
OpReturn
%no = OpLabel
OpStore %out %c7
OpReturn
%never = OpLabel
OpUnreachable
OpFunctionEnd
`),
    expect: (_, x) => ((x & 1) !== 0 ? x : 7),
  },
  {
    name: "R5: both arms to one block inside the selection, which that leaves early",
    body: "",
    assembly: module(`%main = OpFunction %void None %fn
%e = OpLabel
${reads}
%odd = OpBitwiseAnd %uint %x %c1
%isodd = OpINotEqual %bool %odd %c0
OpSelectionMerge %m None
OpBranchConditional %isodd %in %in
%in = OpLabel
OpBranchConditional %isodd %more %m
%more = OpLabel
OpBranch %m
%m = OpLabel
%n = OpPhi %uint %c7 %in %x %more
OpStore %out %n
OpReturn
OpFunctionEnd
`),
    expect: (_, x) => ((x & 1) !== 0 ? x : 7),
  },
  {
    name: "R6: forty nested loops, twelve nested ifs",
    body: `${Array.from({ length: nestedLoops }, (_, k) => `for (uint k${k} = 0u; k${k} <= a[0]; k${k}++) { `).join("")}
      y++; ${"}".repeat(nestedLoops)}
      ${Array.from({ length: 12 }, (_, k) => `if ((x & ${1 << k}u) != 0u) { y += 2u;`).join(" ")} ${"}".repeat(12)}`,
    expect: (_, x) => {
      let y = 1;
      for (let k = 0; k < 12 && (x & (1 << k)) !== 0; k++) y += 2;
      return y;
    },
  },
  {
    name: "R7: outputs of lanes that left a loop early",
    body: "for (uint k = 0u; k < 8u; k++) { r[i] = y; y = r[i] + k; if (k == (x & 7u)) break; }",
    expect: (_, x) => ((x & 7) * ((x & 7) + 1)) / 2,
  },
  {
    name: "R8: no side effect of a path that is never taken",
    body: "if (a[0] == 0u) y = 3u; else { r[i ^ 1u] = 1u / a[0]; y = a[0x3fffffffu]; for (;;) y++; }",
    expect: () => 3,
  },
  {
    name: "R11: barriers in dead branches, in a loop of one round, before a return of the whole group",
    before: "shared uint s[32];",
    body: `if (a[0] == 5u) barrier();
      for (uint k = 0u; k < 1u; k++) { s[gl_LocalInvocationID.x] = x; barrier(); y = s[31u - gl_LocalInvocationID.x];
        if (a[0] == 0u) break; barrier(); }
      if (gl_WorkGroupID.x == a[0] + 9u) return; barrier();`,
    expect: (i, _, a) => a[i ^ 31] ?? 0,
  },
  {
    name: "R12: undefined results are ordinary values",
    before: kept,
    body: `float z = float(a[0]); int n = int(a[0]);
      uint u = floatBitsToUint(mod(float(x), z));
      y = S(u) + S(bitfieldExtract(x, -1 - n, 40)) + S(x / a[0]) + S(uint(findMSB(n))) + S(x << (40u + a[0]))
        + S(x >> (n - 3)) + S(floatBitsToUint(pow(-1.0 - z, 0.5))) + S(uint(float(x) * 1e30)) + S(uint(int(-1e30 - z)))
        + S(x / uint(findLSB(a[0]) + 1)) + S(floatBitsToUint(smoothstep(z, z, 0.5))) + S(floatBitsToUint(acos(2.0 + z)))
        + S(floatBitsToUint(ldexp(1.0, 1000 + n))) + S(uint(n % n)) + uint(u == u) + uint(true || u > 0u);`,
    expect: () => 16,
  },
  {
    name: "R13: constants fold as the hardware computes",
    before: kept,
    body: `y = floatBitsToUint(0.1 + 0.2) + floatBitsToUint(1e-40 * 2.0) * 3u + floatBitsToUint(3.4e38 * 10.0) * 5u
      + floatBitsToUint(-0.0 * 1.0) * 7u + S(7u / (3u - 3u)) + S(1u << 33u) + S(uint(-7 % (2 - 2)));`,
    expect: () =>
      bits(f(f(0.1) + f(0.2))) +
      Math.imul(bits(f(f(1e-40) * 2)), 3) +
      Math.imul(bits(Number.POSITIVE_INFINITY), 5) +
      Math.imul(0x80000000, 7) +
      3,
  },
  {
    name: "R14: uninitialised variables, arrays, columns, members",
    before: "struct P { uint a; uint b[2]; }; uint second(uint a, uint b) { return b; }",
    body: `uint v; uint t[3]; mat2 m; P p; int c; c++; t[x % 3u] = 9u; m[0] = vec2(1.0, 2.0); p.b[1] = 4u;
      y = second(v, t[x % 3u]) + uint(m[0].y) + second(uint(c), p.b[1]); v = 5u; y += v;`,
    expect: () => 20,
  },
  {
    name: "R15: OpUndef in phis, composites and arguments; R16: constant indices out of range where nothing runs",
    body: "",
    assembly: module(`%arr = OpTypeArray %uint %c4
%ap = OpTypePointer Function %arr
%ft = OpTypeFunction %uint %v2 %uint
%u = OpUndef %uint
%u2 = OpUndef %v2
%pick = OpFunction %uint None %ft
%pv = OpFunctionParameter %v2
%ps = OpFunctionParameter %uint
%pe = OpLabel
%pw = OpCompositeInsert %v2 %ps %pv 1
%pr = OpCompositeExtract %uint %pw 1
OpReturnValue %pr
OpFunctionEnd
%main = OpFunction %void None %fn
%e = OpLabel
%local = OpVariable %ap Function
${reads}
%some = OpINotEqual %bool %zero %c0
OpSelectionMerge %m None
OpBranchConditional %some %bad %m
%bad = OpLabel
%far = OpAccessChain %lp %local %c11
%farv = OpLoad %uint %far
OpStore %far %x
%third = OpVectorExtractDynamic %uint %u2 %c3
%badv = OpIAdd %uint %farv %third
OpBranch %m
%m = OpLabel
%p = OpPhi %uint %badv %bad %u %e
%q = OpPhi %uint %u %bad %x %e
%c = OpFunctionCall %uint %pick %u2 %q
%k = OpBitwiseAnd %uint %p %c0
%y = OpIAdd %uint %c %k
OpStore %out %y
OpReturn
OpFunctionEnd
`),
    expect: (_, x) => x,
  },
  {
    name: "R16: indices out of range into a local array touch no other variable",
    body: `uint before = 70u; uint t[4] = uint[4](1u, 2u, 3u, 4u); uint behind = 7u; t[x % 9u] = 5u;
      y = before + behind + (x % 9u < 4u ? t[x % 9u] : 5u);`,
    expect: () => 82,
  },
  {
    name: "R17: guarded indices keep their guards",
    body: `y = a[min(x, 63u)] + a[clamp(int(x), 0, 63)] + a[x % 64u] + a[min(max(x, 2u), 5u)]
      + a[clamp(clamp(int(x), -5, 200), 3, 9)] + a[min(x, uint(a.length()) - 1u)];`,
    expect: (_, x, a) => {
      const clamp = (v: number, low: number, high: number) => Math.min(Math.max(v, low), high);
      const s = x | 0;
      const at = [Math.min(x, 63), clamp(s, 0, 63), x % 64, clamp(x, 2, 5), clamp(clamp(s, -5, 200), 3, 9)];
      return [...at, Math.min(x, a.length - 1)].reduce((sum, k) => sum + (a[k] ?? 0), 0);
    },
  },
  {
    name: "R18: large constant tables indexed by lane",
    before: glslTable("T", 1) + glslTable("U", 7),
    body: "y = T[x & 255u] + U[(x >> 8) & 255u] + T[U[x & 255u] & 255u]; uint w[256] = T; w[x & 255u] = 1u; y += w[x & 255u];",
    expect: (_, x) => {
      const [t, u] = [table(1), table(7)];
      return (t[x & 255] ?? 0) + (u[(x >>> 8) & 255] ?? 0) + (t[(u[x & 255] ?? 0) & 255] ?? 0) + 1;
    },
  },
  {
    name: "R19: arrays of structs, arrays of one, arrays of matrices, elements through inout",
    before: `struct Q { uint a[1]; uvec2 b; }; void put(inout uint v, uint n) { v = v * 3u + n; }`,
    body: `Q q[3]; mat2 m[2]; uint g[2][2];
      for (uint j = 0u; j < 3u; j++) { q[j].a[0] = j; q[j].b = uvec2(j, x & 15u); }
      for (uint j = 0u; j < 2u; j++) for (uint k = 0u; k < 2u; k++) { g[j][k] = j * 2u + k; m[j][k] = vec2(float(j), float(k)); q[j] = q[k + 1u]; }
      put(q[1].b.y, 1u); put(q[x % 3u].a[0], 2u); put(g[x & 1u][(x >> 1) & 1u], 5u);
      y = q[0].a[0] + q[1].a[0] * 10u + q[2].a[0] * 100u + q[1].b.y * 1000u + g[0][0] + g[0][1] + g[1][0] + g[1][1]
        + uint(m[1][0].x + m[1][1].y);`,
    expect: (_, x) => {
      // q[0] is q[2] in the end, as is q[1]: j = 0: q[0] = q[1], q[0] = q[2]; j = 1: q[1] = q[1], q[1] = q[2].
      const q = [2, 2, 2];
      q[x % 3] = 2 * 3 + 2;
      const g = [0, 1, 2, 3];
      const at = (x & 1) * 2 + ((x >>> 1) & 1);
      g[at] = (g[at] ?? 0) * 3 + 5;
      const sum = g.reduce((total, v) => total + v, 0);
      return (q[0] ?? 0) + (q[1] ?? 0) * 10 + (q[2] ?? 0) * 100 + ((x & 15) * 3 + 1) * 1000 + sum + 2;
    },
  },
  {
    name: "R20: a private variable that a callee changes is the caller's limit",
    before: "uint limit = 10u; void lower() { limit -= 2u; }",
    body: "limit += x & 3u; for (uint k = 0u; k < limit; k++) { lower(); y++; } y = y * 100u + limit;",
    expect: (_, x) => {
      let limit = 10 + (x & 3);
      let y = 0;
      for (let k = 0; k < limit; k++) {
        limit -= 2;
        y++;
      }
      return y * 100 + limit;
    },
  },
  {
    name: "R22: identities hold where they are exact, and only there",
    body: `float v = float(x & 1023u) + 0.5; float z = float(a[0]); float inf = 1.0 / z; mat3 m = mat3(v, 1, 2, 3, v, 5, 6, 7, v);
      y = uint(v - v == 0.0) | uint(-(-v) == v) << 1 | uint(transpose(transpose(m)) == m) << 2
        | uint(dot(vec2(v, 2.0), vec2(1.0, 0.0)) == v) << 3 | uint(determinant(mat3(1.0)) == 1.0) << 4
        | uint(inf - inf == 0.0) << 5 | uint(0.0 * inf == 0.0) << 6 | uint(min(max(v, 9.0), 3.0) == 3.0) << 7
        | uint(floatBitsToUint(z + -0.0) == 0u) << 8;`,
    expect: () => 0x19f,
  },
  {
    name: "R23: integer edges",
    body: `int s = int(x); int least = -2147483647 - 1 + int(a[0]);
      y = uint(-least) + uint(abs(least)) + uint(s / 7) + uint(s / -13) * 3u + x / 10u + x % 1000u + uint(x < 0x80000000u)
        + uint(-s / 3) + x / (x | 1u) + uint(s / (s | 1)) * 5u;`,
    expect: (_, x) => {
      const s = x | 0;
      return (
        Math.trunc(s / 7) +
        Math.trunc(s / -13) * 3 +
        Math.floor(x / 10) +
        (x % 1000) +
        Number(x < 0x80000000) +
        Math.trunc((-s | 0) / 3) +
        Math.floor(x / ((x | 1) >>> 0)) +
        Math.trunc(s / (s | 1)) * 5
      );
    },
  },
  {
    name: "R24: comparisons of NaN, chains of one condition",
    body: `float n = uintBitsToFloat(0x7fc00000u + a[0]); bool c = x > 5u;
      y = uint(n < 1.0) | uint(!(n >= 1.0)) << 1 | uint(n != n) << 2 | uint(!(n < 1.0) && !(n > 1.0) && !(n == 1.0)) << 3
        | (c ? (c ? 1u : 2u) : (c ? 3u : 4u)) << 4;`,
    expect: (_, x) => 14 | ((x > 5 ? 1 : 4) << 4),
  },
  {
    name: "R25: transcendentals of NaN, infinities and denormals",
    body: `float z = float(a[0]); float n = uintBitsToFloat(0x7fc00000u + a[0]); float inf = 1.0 / z;
      y = uint(cos(uintBitsToFloat(1u + a[0])) == 1.0) | uint(isnan(sin(n))) << 1 | uint(exp2(-inf) == 0.0) << 2
        | uint(isnan(sqrt(-1.0 - z))) << 3 | uint(isnan(log2(-1.0 - z))) << 4 | uint(isinf(log2(z))) << 5 | uint(isinf(inf)) << 6;`,
    expect: () => 127,
  },
  {
    name: "R26: chains in pieces, copies, composites, phis of null, dead functions",
    body: "",
    assembly: module(`%null2 = OpConstantNull %v2
%pairs = OpTypeArray %v2 %c4
%st = OpTypeStruct %uint %pairs
%stp = OpTypePointer Function %st
%prp = OpTypePointer Function %pairs
%v2p = OpTypePointer Function %v2
%ft = OpTypeFunction %v2 %v2 %stp
%dead = OpFunction %v2 DontInline %ft
%dv = OpFunctionParameter %v2
%dp = OpFunctionParameter %stp
%de = OpLabel
OpReturnValue %dv
OpFunctionEnd
%main = OpFunction %void None %fn
%e = OpLabel
%s = OpVariable %stp Function
${reads}
%part = OpInBoundsAccessChain %prp %s %c1
%elem = OpAccessChain %v2p %part %c2
%comp = OpInBoundsAccessChain %lp %elem %c1
OpStore %comp %x Volatile
%whole = OpLoad %st %s
%again = OpCopyObject %st %whole
%vec = OpCompositeExtract %v2 %again 1 2
%odd = OpBitwiseAnd %uint %x %c1
%isodd = OpINotEqual %bool %odd %c0
OpSelectionMerge %m DontFlatten
OpBranchConditional %isodd %t %f
%t = OpLabel
OpBranch %m
%f = OpLabel
OpBranch %m
%m = OpLabel
%p = OpPhi %v2 %vec %t %null2 %f
%first = OpCompositeInsert %v2 %c7 %p 0
%sum0 = OpCompositeExtract %uint %first 0
%sum1 = OpCompositeExtract %uint %first 1
%y = OpIAdd %uint %sum0 %sum1
%rows = OpAccessChain %rp %r %c0
%place = OpAccessChain %wp %rows %i
%copy = OpCopyObject %wp %place
OpStore %copy %y Nontemporal
OpReturn
OpFunctionEnd
`),
    expect: (_, x) => ((x & 1) !== 0 ? x + 7 : 7),
  },
];
