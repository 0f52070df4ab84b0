#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
uint odd(uint n);
uint even(uint n) { return n == 0u ? 1u : odd(n) + 1u; }
uint odd(uint n) { return n & 1u; }
void main() { y[gl_GlobalInvocationID.x] = even(x[gl_GlobalInvocationID.x]); }
