#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec4 v = vec4(1.0, 2.0, 4.0, 8.0);
  int k = int(x[i]) & 3;
  v[k] += 0.5;
  v.wzyx[1] = 16.0;
  y[i] = v[3 - k] + v[k];
}
