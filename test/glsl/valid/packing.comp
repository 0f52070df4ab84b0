#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint u = x[i];
  vec2 h = unpackHalf2x16(u);
  vec4 b = unpackUnorm4x8(u);
  uint r = packHalf2x16(h * 2.0) + packUnorm4x8(b) + packSnorm4x8(unpackSnorm4x8(u));
  r += packUnorm2x16(unpackUnorm2x16(u)) + packSnorm2x16(unpackSnorm2x16(u));
  r += floatBitsToUint(uintBitsToFloat(u & 0x3fffffffu) + 1.0) + uint(floatBitsToInt(intBitsToFloat(5)));
  y[i] = r;
}
