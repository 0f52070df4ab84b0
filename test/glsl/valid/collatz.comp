#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
// steps of the Collatz sequence: a loop whose count differs between invocations
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint n = x[i] | 1u;
  uint steps = 0u;
  while (n != 1u && steps < 200u) {
    if ((n & 1u) == 0u) n >>= 1;
    else n = 3u * n + 1u;
    steps++;
  }
  y[i] = steps;
}
