#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { int k; int x[]; } b[2];
layout(set = 0, binding = 2) buffer C { int y[]; };
void main() {
  int i = 0;
  // a runtime array has no value, but what leads to it has effects
  b[i++].x;
  b[0];
  y;
  y.length();
  y[i++];
  b[0].k = i;
}
