#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint acc = 0u;
  for (uint k = 0u; k < 12u; k++) {
    switch ((x[i] + k) & 3u) {
      case 0u: continue;
      case 1u: acc += k; break;
      case 2u: acc ^= 0x55u; break;
      default: acc += 3u;
    }
    if (acc > 500u) break;
    acc += 1u;
  }
  y[i] = acc;
}
