/**
 * The built-in functions, one row for each generic signature: `returns name(parameters) = lowering`.
 * Generic types are the specification's: genFType genDType genIType genUType genBType (1–4 components), vec dvec ivec
 * uvec bvec (2–4); all generic types of one row take the same size. `memory T` is an l-value in a buffer or shared,
 * `splat T` a scalar that stands for a vector of the row's size.
 * Lowerings: `ext X` is GLSL.std.450's X, `op X` is the instruction X on the arguments in order, anything else is a name
 * in `emit/builtins.ts`. `@fragment` restricts the stage. Source: GLSL 4.60 chapter 8.
 */
const plainRows = `
genFType radians(genFType) = ext Radians
genFType degrees(genFType) = ext Degrees
genFType sin(genFType) = ext Sin
genFType cos(genFType) = ext Cos
genFType tan(genFType) = ext Tan
genFType asin(genFType) = ext Asin
genFType acos(genFType) = ext Acos
genFType atan(genFType, genFType) = ext Atan2
genFType atan(genFType) = ext Atan
genFType sinh(genFType) = ext Sinh
genFType cosh(genFType) = ext Cosh
genFType tanh(genFType) = ext Tanh
genFType asinh(genFType) = ext Asinh
genFType acosh(genFType) = ext Acosh
genFType atanh(genFType) = ext Atanh

genFType pow(genFType, genFType) = ext Pow
genFType exp(genFType) = ext Exp
genFType log(genFType) = ext Log
genFType exp2(genFType) = ext Exp2
genFType log2(genFType) = ext Log2
genFType sqrt(genFType) = ext Sqrt
genDType sqrt(genDType) = ext Sqrt
genFType inversesqrt(genFType) = ext InverseSqrt
genDType inversesqrt(genDType) = ext InverseSqrt

genFType abs(genFType) = ext FAbs
genDType abs(genDType) = ext FAbs
genIType abs(genIType) = ext SAbs
genFType sign(genFType) = ext FSign
genDType sign(genDType) = ext FSign
genIType sign(genIType) = ext SSign
genFType floor(genFType) = ext Floor
genDType floor(genDType) = ext Floor
genFType trunc(genFType) = ext Trunc
genDType trunc(genDType) = ext Trunc
genFType round(genFType) = ext Round
genDType round(genDType) = ext Round
genFType roundEven(genFType) = ext RoundEven
genDType roundEven(genDType) = ext RoundEven
genFType ceil(genFType) = ext Ceil
genDType ceil(genDType) = ext Ceil
genFType fract(genFType) = ext Fract
genDType fract(genDType) = ext Fract
genFType mod(genFType, genFType) = op OpFMod
genFType mod(genFType, splat float) = op OpFMod
genDType mod(genDType, genDType) = op OpFMod
genDType mod(genDType, splat double) = op OpFMod
genFType modf(genFType, out genFType) = modf
genDType modf(genDType, out genDType) = modf
genFType min(genFType, genFType) = ext FMin
genFType min(genFType, splat float) = ext FMin
genDType min(genDType, genDType) = ext FMin
genDType min(genDType, splat double) = ext FMin
genIType min(genIType, genIType) = ext SMin
genIType min(genIType, splat int) = ext SMin
genUType min(genUType, genUType) = ext UMin
genUType min(genUType, splat uint) = ext UMin
genFType max(genFType, genFType) = ext FMax
genFType max(genFType, splat float) = ext FMax
genDType max(genDType, genDType) = ext FMax
genDType max(genDType, splat double) = ext FMax
genIType max(genIType, genIType) = ext SMax
genIType max(genIType, splat int) = ext SMax
genUType max(genUType, genUType) = ext UMax
genUType max(genUType, splat uint) = ext UMax
genFType clamp(genFType, genFType, genFType) = ext FClamp
genFType clamp(genFType, splat float, splat float) = ext FClamp
genDType clamp(genDType, genDType, genDType) = ext FClamp
genDType clamp(genDType, splat double, splat double) = ext FClamp
genIType clamp(genIType, genIType, genIType) = ext SClamp
genIType clamp(genIType, splat int, splat int) = ext SClamp
genUType clamp(genUType, genUType, genUType) = ext UClamp
genUType clamp(genUType, splat uint, splat uint) = ext UClamp
genFType mix(genFType, genFType, genFType) = ext FMix
genFType mix(genFType, genFType, splat float) = ext FMix
genDType mix(genDType, genDType, genDType) = ext FMix
genDType mix(genDType, genDType, splat double) = ext FMix
genFType mix(genFType, genFType, genBType) = select
genDType mix(genDType, genDType, genBType) = select
genIType mix(genIType, genIType, genBType) = select
genUType mix(genUType, genUType, genBType) = select
genBType mix(genBType, genBType, genBType) = select
genFType step(genFType, genFType) = ext Step
genFType step(splat float, genFType) = ext Step
genDType step(genDType, genDType) = ext Step
genDType step(splat double, genDType) = ext Step
genFType smoothstep(genFType, genFType, genFType) = ext SmoothStep
genFType smoothstep(splat float, splat float, genFType) = ext SmoothStep
genDType smoothstep(genDType, genDType, genDType) = ext SmoothStep
genDType smoothstep(splat double, splat double, genDType) = ext SmoothStep
genBType isnan(genFType) = op OpIsNan
genBType isnan(genDType) = op OpIsNan
genBType isinf(genFType) = op OpIsInf
genBType isinf(genDType) = op OpIsInf
genIType floatBitsToInt(genFType) = op OpBitcast
genUType floatBitsToUint(genFType) = op OpBitcast
genFType intBitsToFloat(genIType) = op OpBitcast
genFType uintBitsToFloat(genUType) = op OpBitcast
genFType fma(genFType, genFType, genFType) = ext Fma
genDType fma(genDType, genDType, genDType) = ext Fma
genFType frexp(genFType, out genIType) = frexp
genDType frexp(genDType, out genIType) = frexp
genFType ldexp(genFType, genIType) = ext Ldexp
genDType ldexp(genDType, genIType) = ext Ldexp
genF16Type frexp(genF16Type, out genI16Type) = frexp +GL_EXT_shader_explicit_arithmetic_types +GL_EXT_shader_explicit_arithmetic_types_int16
genF16Type ldexp(genF16Type, genI16Type) = ext Ldexp +GL_EXT_shader_explicit_arithmetic_types +GL_EXT_shader_explicit_arithmetic_types_int16

uint packUnorm2x16(vec2) = ext PackUnorm2x16
uint packSnorm2x16(vec2) = ext PackSnorm2x16
uint packUnorm4x8(vec4) = ext PackUnorm4x8
uint packSnorm4x8(vec4) = ext PackSnorm4x8
vec2 unpackUnorm2x16(uint) = ext UnpackUnorm2x16
vec2 unpackSnorm2x16(uint) = ext UnpackSnorm2x16
vec4 unpackUnorm4x8(uint) = ext UnpackUnorm4x8
vec4 unpackSnorm4x8(uint) = ext UnpackSnorm4x8
uint packHalf2x16(vec2) = ext PackHalf2x16
vec2 unpackHalf2x16(uint) = ext UnpackHalf2x16
double packDouble2x32(uvec2) = ext PackDouble2x32
uvec2 unpackDouble2x32(double) = ext UnpackDouble2x32

float length(genFType) = ext Length
double length(genDType) = ext Length
float distance(genFType, genFType) = ext Distance
double distance(genDType, genDType) = ext Distance
float dot(float, float) = op OpFMul
float dot(vec, vec) = op OpDot
double dot(double, double) = op OpFMul
double dot(dvec, dvec) = op OpDot
vec3 cross(vec3, vec3) = ext Cross
dvec3 cross(dvec3, dvec3) = ext Cross
genFType normalize(genFType) = ext Normalize
genDType normalize(genDType) = ext Normalize
genFType faceforward(genFType, genFType, genFType) = ext FaceForward
genDType faceforward(genDType, genDType, genDType) = ext FaceForward
genFType reflect(genFType, genFType) = ext Reflect
genDType reflect(genDType, genDType) = ext Reflect
genFType refract(genFType, genFType, float) = ext Refract
genDType refract(genDType, genDType, double) = refract

mat2 matrixCompMult(mat2, mat2) = matrixCompMult
mat3 matrixCompMult(mat3, mat3) = matrixCompMult
mat4 matrixCompMult(mat4, mat4) = matrixCompMult
mat2x3 matrixCompMult(mat2x3, mat2x3) = matrixCompMult
mat2x4 matrixCompMult(mat2x4, mat2x4) = matrixCompMult
mat3x2 matrixCompMult(mat3x2, mat3x2) = matrixCompMult
mat3x4 matrixCompMult(mat3x4, mat3x4) = matrixCompMult
mat4x2 matrixCompMult(mat4x2, mat4x2) = matrixCompMult
mat4x3 matrixCompMult(mat4x3, mat4x3) = matrixCompMult
dmat2 matrixCompMult(dmat2, dmat2) = matrixCompMult
dmat3 matrixCompMult(dmat3, dmat3) = matrixCompMult
dmat4 matrixCompMult(dmat4, dmat4) = matrixCompMult
mat2 outerProduct(vec2, vec2) = op OpOuterProduct
mat3 outerProduct(vec3, vec3) = op OpOuterProduct
mat4 outerProduct(vec4, vec4) = op OpOuterProduct
mat2x3 outerProduct(vec3, vec2) = op OpOuterProduct
mat3x2 outerProduct(vec2, vec3) = op OpOuterProduct
mat2x4 outerProduct(vec4, vec2) = op OpOuterProduct
mat4x2 outerProduct(vec2, vec4) = op OpOuterProduct
mat3x4 outerProduct(vec4, vec3) = op OpOuterProduct
mat4x3 outerProduct(vec3, vec4) = op OpOuterProduct
mat2 transpose(mat2) = op OpTranspose
mat3 transpose(mat3) = op OpTranspose
mat4 transpose(mat4) = op OpTranspose
mat2x3 transpose(mat3x2) = op OpTranspose
mat3x2 transpose(mat2x3) = op OpTranspose
mat2x4 transpose(mat4x2) = op OpTranspose
mat4x2 transpose(mat2x4) = op OpTranspose
mat3x4 transpose(mat4x3) = op OpTranspose
mat4x3 transpose(mat3x4) = op OpTranspose
dmat2 transpose(dmat2) = op OpTranspose
dmat3 transpose(dmat3) = op OpTranspose
dmat4 transpose(dmat4) = op OpTranspose
float determinant(mat2) = ext Determinant
float determinant(mat3) = ext Determinant
float determinant(mat4) = ext Determinant
double determinant(dmat2) = ext Determinant
double determinant(dmat3) = ext Determinant
double determinant(dmat4) = ext Determinant
mat2 inverse(mat2) = ext MatrixInverse
mat3 inverse(mat3) = ext MatrixInverse
mat4 inverse(mat4) = ext MatrixInverse
dmat2 inverse(dmat2) = ext MatrixInverse
dmat3 inverse(dmat3) = ext MatrixInverse
dmat4 inverse(dmat4) = ext MatrixInverse

bvec lessThan(vec, vec) = op OpFOrdLessThan
bvec lessThan(dvec, dvec) = op OpFOrdLessThan
bvec lessThan(ivec, ivec) = op OpSLessThan
bvec lessThan(uvec, uvec) = op OpULessThan
bvec lessThanEqual(vec, vec) = op OpFOrdLessThanEqual
bvec lessThanEqual(dvec, dvec) = op OpFOrdLessThanEqual
bvec lessThanEqual(ivec, ivec) = op OpSLessThanEqual
bvec lessThanEqual(uvec, uvec) = op OpULessThanEqual
bvec greaterThan(vec, vec) = op OpFOrdGreaterThan
bvec greaterThan(dvec, dvec) = op OpFOrdGreaterThan
bvec greaterThan(ivec, ivec) = op OpSGreaterThan
bvec greaterThan(uvec, uvec) = op OpUGreaterThan
bvec greaterThanEqual(vec, vec) = op OpFOrdGreaterThanEqual
bvec greaterThanEqual(dvec, dvec) = op OpFOrdGreaterThanEqual
bvec greaterThanEqual(ivec, ivec) = op OpSGreaterThanEqual
bvec greaterThanEqual(uvec, uvec) = op OpUGreaterThanEqual
bvec equal(vec, vec) = op OpFOrdEqual
bvec equal(dvec, dvec) = op OpFOrdEqual
bvec equal(ivec, ivec) = op OpIEqual
bvec equal(uvec, uvec) = op OpIEqual
bvec equal(bvec, bvec) = op OpLogicalEqual
bvec notEqual(vec, vec) = op OpFUnordNotEqual
bvec notEqual(dvec, dvec) = op OpFUnordNotEqual
bvec notEqual(ivec, ivec) = op OpINotEqual
bvec notEqual(uvec, uvec) = op OpINotEqual
bvec notEqual(bvec, bvec) = op OpLogicalNotEqual
bool any(bvec) = op OpAny
bool all(bvec) = op OpAll
bvec not(bvec) = op OpLogicalNot

genUType uaddCarry(genUType, genUType, out genUType) = addCarry
genUType usubBorrow(genUType, genUType, out genUType) = subBorrow
void umulExtended(genUType, genUType, out genUType, out genUType) = umulExtended
void imulExtended(genIType, genIType, out genIType, out genIType) = imulExtended
genIType bitfieldExtract(genIType, int, int) = op OpBitFieldSExtract
genUType bitfieldExtract(genUType, int, int) = op OpBitFieldUExtract
genIType bitfieldInsert(genIType, genIType, int, int) = op OpBitFieldInsert
genUType bitfieldInsert(genUType, genUType, int, int) = op OpBitFieldInsert
genIType bitfieldReverse(genIType) = op OpBitReverse
genUType bitfieldReverse(genUType) = op OpBitReverse
genIType bitCount(genIType) = op OpBitCount
genIType bitCount(genUType) = op OpBitCount
genIType findLSB(genIType) = ext FindILsb
genIType findLSB(genUType) = ext FindILsb
genIType findMSB(genIType) = ext FindSMsb
genIType findMSB(genUType) = ext FindUMsb

genI64Type bitCount(genI64Type) = bitCountWide
genI64Type bitCount(genU64Type) = bitCountWide
genI64Type findLSB(genI64Type) = findLsbWide
genI64Type findLSB(genU64Type) = findLsbWide
genI64Type findMSB(genI64Type) = findMsbWide
genI64Type findMSB(genU64Type) = findMsbWide

genI16Type halfBitsToInt16(genF16Type) = op OpBitcast
genU16Type halfBitsToUint16(genF16Type) = op OpBitcast
genF16Type int16BitsToHalf(genI16Type) = op OpBitcast
genF16Type uint16BitsToHalf(genU16Type) = op OpBitcast
genI16Type float16BitsToInt16(genF16Type) = op OpBitcast
genU16Type float16BitsToUint16(genF16Type) = op OpBitcast
genF16Type int16BitsToFloat16(genI16Type) = op OpBitcast
genF16Type uint16BitsToFloat16(genU16Type) = op OpBitcast
genI64Type doubleBitsToInt64(genDType) = op OpBitcast
genU64Type doubleBitsToUint64(genDType) = op OpBitcast
genDType int64BitsToDouble(genI64Type) = op OpBitcast
genDType uint64BitsToDouble(genU64Type) = op OpBitcast
int64_t packInt2x32(ivec2) = op OpBitcast
uint64_t packUint2x32(uvec2) = op OpBitcast
ivec2 unpackInt2x32(int64_t) = op OpBitcast
uvec2 unpackUint2x32(uint64_t) = op OpBitcast
int packInt2x16(i16vec2) = op OpBitcast
uint packUint2x16(u16vec2) = op OpBitcast
i16vec2 unpackInt2x16(int) = op OpBitcast
u16vec2 unpackUint2x16(uint) = op OpBitcast
int64_t packInt4x16(i16vec4) = op OpBitcast
uint64_t packUint4x16(u16vec4) = op OpBitcast
i16vec4 unpackInt4x16(int64_t) = op OpBitcast
u16vec4 unpackUint4x16(uint64_t) = op OpBitcast
uint packFloat2x16(f16vec2) = op OpBitcast
f16vec2 unpackFloat2x16(uint) = op OpBitcast
int pack32(i16vec2) = op OpBitcast
uint pack32(u16vec2) = op OpBitcast
int pack32(i8vec4) = op OpBitcast
uint pack32(u8vec4) = op OpBitcast
int16_t pack16(i8vec2) = op OpBitcast
uint16_t pack16(u8vec2) = op OpBitcast
int64_t pack64(ivec2) = op OpBitcast
uint64_t pack64(uvec2) = op OpBitcast
int64_t pack64(i16vec4) = op OpBitcast
uint64_t pack64(u16vec4) = op OpBitcast
ivec2 unpack32(int64_t) = op OpBitcast
uvec2 unpack32(uint64_t) = op OpBitcast
i16vec2 unpack16(int) = op OpBitcast
u16vec2 unpack16(uint) = op OpBitcast
i16vec4 unpack16(int64_t) = op OpBitcast
u16vec4 unpack16(uint64_t) = op OpBitcast
i8vec2 unpack8(int16_t) = op OpBitcast
u8vec2 unpack8(uint16_t) = op OpBitcast
i8vec4 unpack8(int) = op OpBitcast
u8vec4 unpack8(uint) = op OpBitcast

dmat2x2 outerProduct(dvec2, dvec2) = op OpOuterProduct
dmat2x3 outerProduct(dvec3, dvec2) = op OpOuterProduct
dmat2x4 outerProduct(dvec4, dvec2) = op OpOuterProduct
dmat3x2 outerProduct(dvec2, dvec3) = op OpOuterProduct
dmat3x3 outerProduct(dvec3, dvec3) = op OpOuterProduct
dmat3x4 outerProduct(dvec4, dvec3) = op OpOuterProduct
dmat4x2 outerProduct(dvec2, dvec4) = op OpOuterProduct
dmat4x3 outerProduct(dvec3, dvec4) = op OpOuterProduct
dmat4x4 outerProduct(dvec4, dvec4) = op OpOuterProduct
dmat2x3 matrixCompMult(dmat2x3, dmat2x3) = matrixCompMult
dmat2x4 matrixCompMult(dmat2x4, dmat2x4) = matrixCompMult
dmat3x2 matrixCompMult(dmat3x2, dmat3x2) = matrixCompMult
dmat3x4 matrixCompMult(dmat3x4, dmat3x4) = matrixCompMult
dmat4x2 matrixCompMult(dmat4x2, dmat4x2) = matrixCompMult
dmat4x3 matrixCompMult(dmat4x3, dmat4x3) = matrixCompMult
dmat2x3 transpose(dmat3x2) = op OpTranspose
dmat2x4 transpose(dmat4x2) = op OpTranspose
dmat3x2 transpose(dmat2x3) = op OpTranspose
dmat3x4 transpose(dmat4x3) = op OpTranspose
dmat4x2 transpose(dmat2x4) = op OpTranspose
dmat4x3 transpose(dmat3x4) = op OpTranspose

int64_t atomicAdd(memory int64_t, int64_t) = atomic OpAtomicIAdd +GL_EXT_shader_atomic_int64
uint64_t atomicAdd(memory uint64_t, uint64_t) = atomic OpAtomicIAdd +GL_EXT_shader_atomic_int64
int64_t atomicMin(memory int64_t, int64_t) = atomic OpAtomicSMin +GL_EXT_shader_atomic_int64
uint64_t atomicMin(memory uint64_t, uint64_t) = atomic OpAtomicUMin +GL_EXT_shader_atomic_int64
int64_t atomicMax(memory int64_t, int64_t) = atomic OpAtomicSMax +GL_EXT_shader_atomic_int64
uint64_t atomicMax(memory uint64_t, uint64_t) = atomic OpAtomicUMax +GL_EXT_shader_atomic_int64
int64_t atomicAnd(memory int64_t, int64_t) = atomic OpAtomicAnd +GL_EXT_shader_atomic_int64
uint64_t atomicAnd(memory uint64_t, uint64_t) = atomic OpAtomicAnd +GL_EXT_shader_atomic_int64
int64_t atomicOr(memory int64_t, int64_t) = atomic OpAtomicOr +GL_EXT_shader_atomic_int64
uint64_t atomicOr(memory uint64_t, uint64_t) = atomic OpAtomicOr +GL_EXT_shader_atomic_int64
int64_t atomicXor(memory int64_t, int64_t) = atomic OpAtomicXor +GL_EXT_shader_atomic_int64
uint64_t atomicXor(memory uint64_t, uint64_t) = atomic OpAtomicXor +GL_EXT_shader_atomic_int64
int64_t atomicExchange(memory int64_t, int64_t) = atomic OpAtomicExchange +GL_EXT_shader_atomic_int64
uint64_t atomicExchange(memory uint64_t, uint64_t) = atomic OpAtomicExchange +GL_EXT_shader_atomic_int64
int64_t atomicCompSwap(memory int64_t, int64_t, int64_t) = compareExchange +GL_EXT_shader_atomic_int64
uint64_t atomicCompSwap(memory uint64_t, uint64_t, uint64_t) = compareExchange +GL_EXT_shader_atomic_int64

vec4 shadow1D(sampler1DShadow, vec3) = shadow sC +relaxed
vec4 shadow2D(sampler2DShadow, vec3) = shadow sC +relaxed
vec4 shadow2DProj(sampler2DShadow, vec4) = shadow sP +relaxed

uint atomicAdd(memory uint, uint) = atomic OpAtomicIAdd
int atomicAdd(memory int, int) = atomic OpAtomicIAdd
uint atomicMin(memory uint, uint) = atomic OpAtomicUMin
int atomicMin(memory int, int) = atomic OpAtomicSMin
uint atomicMax(memory uint, uint) = atomic OpAtomicUMax
int atomicMax(memory int, int) = atomic OpAtomicSMax
uint atomicAnd(memory uint, uint) = atomic OpAtomicAnd
int atomicAnd(memory int, int) = atomic OpAtomicAnd
uint atomicOr(memory uint, uint) = atomic OpAtomicOr
int atomicOr(memory int, int) = atomic OpAtomicOr
uint atomicXor(memory uint, uint) = atomic OpAtomicXor
int atomicXor(memory int, int) = atomic OpAtomicXor
uint atomicExchange(memory uint, uint) = atomic OpAtomicExchange
int atomicExchange(memory int, int) = atomic OpAtomicExchange
uint atomicCompSwap(memory uint, uint, uint) = compareExchange
int atomicCompSwap(memory int, int, int) = compareExchange

void barrier() = barrier @compute
void memoryBarrier() = memoryBarrier
void memoryBarrierBuffer() = memoryBarrierBuffer
void memoryBarrierImage() = memoryBarrierImage
void memoryBarrierShared() = memoryBarrierShared @compute
void groupMemoryBarrier() = groupMemoryBarrier @compute

genFType dFdx(genFType) = op OpDPdx @fragment
genDType dFdx(genDType) = op OpDPdx @fragment
genFType dFdy(genFType) = op OpDPdy @fragment
genDType dFdy(genDType) = op OpDPdy @fragment
genFType fwidth(genFType) = op OpFwidth @fragment
genDType fwidth(genDType) = op OpFwidth @fragment
genFType dFdxFine(genFType) = op OpDPdxFine @fragment
genDType dFdxFine(genDType) = op OpDPdxFine @fragment
genFType dFdyFine(genFType) = op OpDPdyFine @fragment
genDType dFdyFine(genDType) = op OpDPdyFine @fragment
genFType fwidthFine(genFType) = op OpFwidthFine @fragment
genDType fwidthFine(genDType) = op OpFwidthFine @fragment
genFType dFdxCoarse(genFType) = op OpDPdxCoarse @fragment
genDType dFdxCoarse(genDType) = op OpDPdxCoarse @fragment
genFType dFdyCoarse(genFType) = op OpDPdyCoarse @fragment
genDType dFdyCoarse(genDType) = op OpDPdyCoarse @fragment
genFType fwidthCoarse(genFType) = op OpFwidthCoarse @fragment
genDType fwidthCoarse(genDType) = op OpFwidthCoarse @fragment
genFType interpolateAtCentroid(interpolant genFType) = interpolate InterpolateAtCentroid @fragment
genFType interpolateAtSample(interpolant genFType, int) = interpolate InterpolateAtSample @fragment
genFType interpolateAtOffset(interpolant genFType, vec2) = interpolate InterpolateAtOffset @fragment
bool anyInvocation(bool) = vote Any +core460
bool allInvocations(bool) = vote All +core460
bool allInvocationsEqual(bool) = vote AllEqual +core460
bool anyInvocationARB(bool) = vote Any +GL_ARB_shader_group_vote
bool allInvocationsARB(bool) = vote All +GL_ARB_shader_group_vote
bool allInvocationsEqualARB(bool) = vote AllEqual +GL_ARB_shader_group_vote
void controlBarrier(int, int, int, int) = controlBarrier +GL_KHR_memory_scope_semantics
void memoryBarrier(int, int, int) = scopedBarrier +GL_KHR_memory_scope_semantics
bool helperInvocationEXT() = helperInvocation @fragment +GL_EXT_demote_to_helper_invocation
`;

/** Atomic operations whose scope and order the call says. Source: GL_KHR_memory_scope_semantics. */
function scopedRows(): string {
  const rows: string[] = [];
  for (const type of ["int", "uint", "int64_t", "uint64_t"]) {
    const extension = "+GL_KHR_memory_scope_semantics";
    const order = "int, int, int";
    const sign = type.startsWith("u") ? "U" : "S";
    for (const [name, instruction] of [
      ["Add", "IAdd"],
      ["Min", `${sign}Min`],
      ["Max", `${sign}Max`],
      ["And", "And"],
      ["Or", "Or"],
      ["Xor", "Xor"],
      ["Exchange", "Exchange"],
    ] as const) {
      rows.push(
        `${type} atomic${name}(memory ${type}, ${type}, ${order}) = atomic OpAtomic${instruction} ${extension}`,
      );
    }
    rows.push(
      `${type} atomicCompSwap(memory ${type}, ${type}, ${type}, ${order}, int, int) = compareExchange ${extension}`,
    );
    rows.push(`${type} atomicLoad(memory ${type}, ${order}) = atomicLoad ${extension}`);
    rows.push(`void atomicStore(memory ${type}, ${type}, ${order}) = atomicStore ${extension}`);
  }
  return rows.join("\n");
}

/** The rows, one a line. */
export const functionRows = (): string => `${plainRows}${scopedRows()}\n`;
