#version 450
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 1) const int n = 4;
layout(constant_id = 2) const bool negate = false;
layout(constant_id = 3) const float scale = 1.5;
layout(constant_id = 4) const uint mask = 0xffu;
const int doubled = n * 2 + 1;
layout(std430, binding = 0) readonly buffer In { float x[]; };
layout(std430, binding = 1) buffer Out { float y[]; };
shared float tile[doubled];
void main() {
  uint i = gl_GlobalInvocationID.x + gl_WorkGroupSize.x * gl_GlobalInvocationID.y;
  float local[n];
  for (int k = 0; k < n; k++) local[k] = x[i] * float(k);
  tile[i % uint(doubled)] = float(mask & i);
  barrier();
  float r = 0.0;
  for (int k = 0; k < local.length(); k++) r += local[k];
  y[i] = (negate ? -r : r) * scale + tile[0];
}
