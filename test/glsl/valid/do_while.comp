#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
// greatest common divisor with 360
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint a = x[i] + 1u, b = 360u;
  do {
    uint t = a % b;
    a = b;
    b = t;
  } while (b != 0u);
  y[i] = a;
}
