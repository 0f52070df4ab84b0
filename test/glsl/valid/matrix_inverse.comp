#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  mat4 m = mat4(2.0);
  m[3] = vec4(x[i], 1.0, 0.0, 1.0);
  mat4 inv = inverse(m);
  mat4 one = matrixCompMult(inv, mat4(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0));
  y[i] = (inv * m)[0][0] + one[3].x + determinant(m);
}
