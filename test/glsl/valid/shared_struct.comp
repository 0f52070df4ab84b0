#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
struct Body { vec4 p; float m; int id; };
shared Body bodies[64];
void main() {
  uint l = gl_LocalInvocationID.x;
  bodies[l].p = vec4(x[gl_GlobalInvocationID.x]);
  bodies[l].m = float(l);
  bodies[l].id = int(l) * 3;
  barrier();
  Body b = bodies[(l + 1u) % 64u];
  y[gl_GlobalInvocationID.x] = b.p.y + b.m + float(b.id);
}
