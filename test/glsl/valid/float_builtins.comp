#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float a = x[i];
  float r = abs(a) + sign(a) + floor(a) + ceil(a) + trunc(a) + fract(a) + roundEven(a);
  r += min(a, 1.0) + max(a, -1.0) + clamp(a, 0.0, 1.0) + mix(1.0, 2.0, a) + step(0.5, a) + smoothstep(0.0, 1.0, a);
  r += mod(a, 0.75) + sqrt(abs(a)) + inversesqrt(abs(a) + 1.0) + fma(a, 2.0, 1.0) + ldexp(a, 3);
  float whole;
  r += modf(a, whole) + whole;
  int e;
  r += frexp(a, e) + float(e);
  r += mix(1.0, 3.0, a > 0.5) + (isnan(a) ? 1.0 : 0.0) + (isinf(a) ? 1.0 : 0.0);
  y[i] = r;
}
