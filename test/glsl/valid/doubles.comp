#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  double d = double(x[i]) * 3.0LF + 1;
  dvec2 v = dvec2(d, 2.0);
  y[i] = float(sqrt(dot(v, v)) + d);
}
