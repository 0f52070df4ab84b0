#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
uint i = 7u;
void main() {
  uint g = gl_GlobalInvocationID.x;
  uint r = i;
  { uint i = 3u; r += i; { float i = 2.5; r += uint(i * 2.0); } r += i; }
  for (uint i = 0u, j = 10u; i < j; i++, j -= 2u) r += i * j;
  uint a = (r += 1u, r * 2u);
  y[g] = a + i + x[g];
}
