#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
const float k = 0.5;
float base = k * 3.0;
vec2 pair = vec2(base, 1.0);
void bump() { base += pair.y; }
void main() {
  bump();
  bump();
  y[gl_GlobalInvocationID.x] = base + x[gl_GlobalInvocationID.x];
}
