#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint u = x[i];
  int s = int(u);
  uint carry, borrow, hi, lo;
  uint sum = uaddCarry(u, 0xfffffff0u, carry);
  uint difference = usubBorrow(5u, u, borrow);
  umulExtended(u, 0x12345678u, hi, lo);
  int shi, slo;
  imulExtended(s, -77777, shi, slo);
  uint r = bitfieldExtract(u, 4, 8) + uint(bitfieldExtract(s, 28, 4));
  r += bitfieldInsert(u, 0x3u, 5, 2) ^ bitfieldReverse(u);
  r += uint(bitCount(u)) + uint(findLSB(u)) + uint(findMSB(u)) + uint(findMSB(s));
  r += sum + carry + difference + borrow + hi + lo + uint(shi) + uint(slo);
  r += uint(abs(s)) + uint(sign(s)) + min(u, 100u) + uint(max(s, -3)) + clamp(u, 5u, 50u);
  y[i] = r;
}
