#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
shared uint data[2][64];
void main() {
  uint l = gl_LocalInvocationID.x;
  int cur = 0;
  data[0][l] = x[gl_GlobalInvocationID.x];
  barrier();
  for (uint d = 1u; d < 64u; d <<= 1) {
    uint v = data[cur][l];
    if (l >= d) v += data[cur][l - d];
    data[1 - cur][l] = v;
    cur = 1 - cur;
    barrier();
  }
  y[gl_GlobalInvocationID.x] = data[cur][l];
}
