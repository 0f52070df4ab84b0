#version 310 es
precision highp float;
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
mediump float half_of(mediump float v) { return v / 2.0; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  highp int n = int(x[i]);
  y[i] = half_of(x[i]) + float(n % 3);
}
