#version 450
#extension GL_EXT_null_initializer : require
layout(local_size_x = 1) in;
layout(constant_id = 0) const int N = 2;
layout(set = 0, binding = 0) buffer B { int x[]; };
struct S { int k; int b[N]; };
struct T { float f; ivec2 v[2]; };
void main() {
  // zero for every size that specialisation may give
  int a[N] = {};
  S s = {};
  T t = {};
  x[0] = a[1] + s.b[0] + s.k + t.v[1].y + int(t.f);
}
