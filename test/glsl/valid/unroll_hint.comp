#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  float r = 0.0;
  [[unroll]] for (int k = 0; k < 4; k++) r += x[gl_GlobalInvocationID.x + k];
  [[flatten]] if (r > 1.0) r = 1.0;
  [[dont_unroll]] while (r > 0.1) r *= 0.5;
  y[gl_GlobalInvocationID.x] = r;
}
