#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint r = 0u;
  switch (int(x[i] % 7u)) {
    case 0: r = 1u; break;
    case 1: r = 2u; // falls through
    case 2: r += 10u; break;
    case 3:
    case 4: r = 100u;
    default: r += 1000u; break;
    case 5: r = 7u; break;
  }
  y[i] = r;
}
