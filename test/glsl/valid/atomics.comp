#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
shared uint total;
shared int lowest;
void main() {
  if (gl_LocalInvocationIndex == 0u) { total = 0u; lowest = 0x7fffffff; }
  barrier();
  uint v = x[gl_GlobalInvocationID.x];
  atomicAdd(total, v & 255u);
  atomicMin(lowest, int(v & 0xffffu));
  barrier();
  if (gl_LocalInvocationIndex == 0u) {
    atomicAdd(y[0], total);
    atomicMax(y[1], total);
    atomicOr(y[2], 1u << (gl_WorkGroupID.x & 31u));
    atomicXor(y[3], uint(lowest));
    atomicExchange(y[4], 5u);
    atomicCompSwap(y[5], 0u, 17u);
    atomicAnd(y[6], 0xf0f0u);
  }
}
