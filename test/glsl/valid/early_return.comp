#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
uint classify(uint v) {
  if (v == 0u) return 0u;
  for (uint k = 1u; k < 8u; k++) {
    if (v < (1u << k)) return k;
    if ((v & 3u) == 3u) return 100u + k;
    v -= 1u;
  }
  return 99u;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= uint(x.length())) return;
  y[i] = classify(x[i]);
}
