#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 1) buffer Out { uint y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint a[8];
  for (int k = 0; k < 8; k++) a[k] = (x[i] >> (4 * k)) & 15u;
  // insertion sort
  for (int k = 1; k < 8; k++) {
    uint v = a[k];
    int j = k - 1;
    while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }
    a[j + 1] = v;
  }
  uint r = 0u;
  for (int k = 0; k < a.length(); k++) r |= a[k] << (4 * k);
  y[i] = r;
}
