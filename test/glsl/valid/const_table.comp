#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
const uint primes[] = uint[](2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u);
const int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
void main() {
  uint i = gl_GlobalInvocationID.x;
  y[i] = primes[x[i] & 7u] + uint(grid[x[i] & 1u][x[i] % 3u]) + uint(primes.length());
}
