#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
shared uint tile[64];
void main() {
  uint l = gl_LocalInvocationIndex, g = gl_WorkGroupID.x * gl_WorkGroupSize.x;
  tile[l] = x[g + l];
  memoryBarrierShared();
  barrier();
  y[g + l] = tile[63u - l];
}
