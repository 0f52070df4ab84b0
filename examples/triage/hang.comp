#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Flags { uint flag[]; };
layout(std430, binding = 1) buffer Out { uint result[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  // Waits for a flag that nobody sets.
  while (atomicAdd(flag[0], 0u) == 0u) result[i]++;
  result[i] = 0u;
}
