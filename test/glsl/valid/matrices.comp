#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float a = x[i];
  mat3 m = mat3(a, 1.0, 2.0, 3.0, a, 4.0, 5.0, 6.0, a);
  mat3 n = transpose(m) * m - mat3(2.0);
  vec3 v = n * vec3(1.0, a, -1.0);
  vec3 w = v * m;
  mat2x3 r = outerProduct(vec3(1.0, 2.0, 3.0), vec2(a, 1.0));
  m[1] = w;
  m[2].x += 0.5;
  m[2][1] = a;
  m /= 2.0;
  y[i] = dot(m[1], v) + r[1][2] + r[0].y + determinant(mat2(m)) + (-m)[0][0];
}
