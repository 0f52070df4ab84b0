#version 450
layout(local_size_x = 4, local_size_y = 4, local_size_z = 2) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
layout(push_constant) uniform Push { uvec3 size; layout(offset = 16) int bias; } pc;
void main() {
  uvec3 g = gl_GlobalInvocationID, size = gl_NumWorkGroups * gl_WorkGroupSize;
  if (any(greaterThanEqual(g, pc.size))) return;
  uint i = (g.z * size.y + g.y) * size.x + g.x;
  y[i] = x[i] + uint(pc.bias) + gl_LocalInvocationIndex;
}
