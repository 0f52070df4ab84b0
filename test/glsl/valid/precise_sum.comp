#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
// Kahan summation: precise keeps the compensation
void main() {
  uint i = gl_GlobalInvocationID.x;
  precise float sum = 0.0, c = 0.0;
  for (int k = 0; k < 16; k++) {
    precise float v = x[i] * 0.1 - c;
    precise float t = sum + v;
    c = (t - sum) - v;
    sum = t;
  }
  y[i] = sum;
}
