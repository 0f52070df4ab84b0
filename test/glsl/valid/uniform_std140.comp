#version 450
layout(local_size_x = 64) in;
struct Light { vec3 color; float power; vec2 dir; };
layout(std140, set = 0, binding = 0) uniform U {
  float scale;
  vec3 bias;
  mat3 m;
  float weights[4];
  layout(row_major) mat2x4 r;
  Light lights[2];
  bool flip;
  ivec2 cell;
} u;
layout(std430, set = 0, binding = 1) buffer Out { vec4 y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec3 v = u.m * vec3(float(i), 1.0, 2.0) * u.scale + u.bias;
  for (int k = 0; k < 4; k++) v.x += u.weights[k];
  Light l = u.lights[i & 1u];
  vec4 w = u.r * l.dir;
  if (u.flip) v = -v;
  y[i] = vec4(v, l.power * l.color.y) + w + float(u.cell.y);
}
