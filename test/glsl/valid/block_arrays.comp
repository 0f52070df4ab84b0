#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { float v[]; } src[3];
layout(std430, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float s = 0.0;
  for (int k = 0; k < src.length(); k++) s += src[k].v[i];
  y[i] = s + src[2].v[0];
}
