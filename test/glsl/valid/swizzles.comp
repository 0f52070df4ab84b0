#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec4 v = vec4(x[i], 2.0, 3.0, 4.0);
  v.zx = v.xy + 1.0;
  v.yw *= 2.0;
  v.bgr = v.rgb;
  vec2 s = v.wzyx.yz;
  s.x++;
  float f = v.x;
  y[i] = s.x + s.t * 10.0 + v.w * 100.0 + f.xx.y + --v.y;
}
