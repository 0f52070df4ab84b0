#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
float table[2][3];
float[3] row(int k) { return table[k]; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  for (int a = 0; a < 2; a++) for (int b = 0; b < 3; b++) table[a][b] = x[i] * float(a * 3 + b);
  float r[3] = row(1);
  y[i] = r[0] + r[2] - row(0)[1];
}
