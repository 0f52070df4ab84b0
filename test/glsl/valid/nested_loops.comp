#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint count = 0u;
  for (uint a = 0u; a < 5u; ++a) {
    for (uint b = a; b < 6u; ++b) {
      if (((x[i] >> a) & (x[i] >> b) & 1u) == 0u) continue;
      if (a * b > 12u) break;
      count += a + b;
    }
  }
  y[i] = count;
}
