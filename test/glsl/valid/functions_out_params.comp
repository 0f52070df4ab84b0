#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void split(in float v, out float whole, inout float sum) {
  whole = floor(v);
  sum += v - whole;
}
float twice(float a) { a *= 2.0; return a; }
int twice(int a) { return a * 2; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  float whole, sum = 0.5;
  split(x[i], whole, sum);
  split(x[i] * 3.0, whole, sum);
  y[i] = twice(whole) + sum + float(twice(3));
}
