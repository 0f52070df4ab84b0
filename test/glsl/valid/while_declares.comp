#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint v = x[i], r = 0u;
  while (bool more = v != 0u) { v >>= 1; r += more ? 1u : 0u; }
  for (;;) { if (r > 20u) break; r += 7u; }
  y[i] = r;
}
