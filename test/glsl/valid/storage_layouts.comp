#version 450
layout(local_size_x = 32) in;
struct Item { vec3 p; float w; uint tags[3]; };
layout(std430, binding = 0) readonly buffer In { uint count; layout(offset = 32) mat2 m; Item items[]; } a;
layout(std140, binding = 1) buffer Out { vec2 head; float tail[8]; Item items[]; } b;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= a.count || i >= uint(b.items.length())) return;
  Item item = a.items[i];
  item.p.xy = a.m * item.p.xy;
  item.tags[i % 3u] += 1u;
  b.items[i] = item;
  b.items[i].tags[0]++;
  b.tail[i & 7u] = b.head.y;
}
