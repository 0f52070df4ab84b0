#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint v = x[i], r;
  if (v < 16u) {
    if (v < 8u) { r = v < 4u ? 1u : 2u; }
    else r = 3u;
  } else if (v < 64u) {
    r = 4u;
    if ((v & 1u) == 1u) r += 10u;
  } else if (v == 77u) {
    r = 5u;
  } else {
    r = 6u;
  }
  y[i] = r;
}
