#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec3 a = vec3(x[i], 1.0, 2.0), b = vec3(0.5, x[i], -1.0);
  vec3 n = normalize(cross(a, b));
  float r = length(a) + distance(a, b) + dot(a, b) + n.x;
  r += faceforward(n, a, b).y + reflect(a, n).z + refract(normalize(a), n, 0.75).x;
  y[i] = r + length(x[i]) + dot(2.0, x[i]) + normalize(3.0);
}
