#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 32) in;
struct P { vec3 a; float b; };
layout(scalar, binding = 0) readonly buffer In { vec3 v[]; };
layout(scalar, binding = 1) buffer Out { uint n; P p[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  p[i] = P(v[i] * 2.0, float(n));
}
