#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec3 a = vec3(x[i], 1.0, 2.0), b = vec3(0.5, 1.0, 3.0);
  bvec3 lt = lessThan(a, b), eq = equal(a, b), ne = notEqual(ivec3(a), ivec3(b));
  float r = any(lt) ? 1.0 : 0.0;
  r += all(eq) ? 2.0 : 0.0;
  r += not(ne).y ? 4.0 : 0.0;
  r += dot(vec3(greaterThanEqual(a, b)), vec3(8.0, 16.0, 32.0));
  r += a == b ? 64.0 : 0.0;
  r += lt != eq ? 128.0 : 0.0;
  y[i] = r + mix(a, b, lt).x;
}
