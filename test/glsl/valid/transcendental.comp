#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float a = x[i];
  float p = abs(a) + 0.5;
  float r = sin(a) + cos(a) + tan(a) + asin(a * 0.1) + acos(a * 0.1) + atan(a) + atan(a, p);
  r += sinh(a) + cosh(a) + tanh(a) + asinh(a) + acosh(p + 1.0) + atanh(a * 0.1);
  r += exp(a) + log(p) + exp2(a) + log2(p) + pow(p, 1.5) + radians(a) + degrees(a);
  y[i] = r;
}
