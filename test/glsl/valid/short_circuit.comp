#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
uint calls = 0u;
bool touch(uint v) { calls++; return (v & 1u) == 1u; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint v = x[i];
  bool a = touch(v) && touch(v >> 1) || touch(v >> 2);
  bool b = v > 100u ^^ touch(v >> 3);
  uint r = a && v < 1000u ? (b ? 1u : 2u) : touch(v >> 4) ? 3u : 4u;
  y[i] = r + 16u * calls;
}
