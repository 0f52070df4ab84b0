#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint u = x[i];
  int s = int(u) - 1000;
  uint r = u * 3u + (u / 7u) - (u % 5u);
  r ^= u << 3;
  r |= u >> 2;
  r &= ~(u & 0xf0u);
  s = -s * 2 + s / 3;
  s >>= 1;
  s += s < 0 ? -1 : 1;
  r += uint(s);
  r -= uint(s == -1) + uint(s >= 5);
  y[i] = r++ + --r;
}
