#version 450
#define SIZE 64
#define SQUARE(v) ((v) * (v))
#define JOIN(a, b) a##b
#define ACC(op) \
  r op SQUARE(t)
#if defined(SIZE) && SIZE >= 32 && !defined NOPE
layout(local_size_x = SIZE) in;
#elif SIZE == 1
#error no
#else
layout(local_size_x = 1) in;
#endif
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
#ifdef VULKAN
const float JOIN(sca, le) = 2.0;
#endif
void main() {
  float t = x[gl_GlobalInvocationID.x], r = 0.0;
  ACC(+=);
  ACC(-=) * 0.5;
  y[gl_GlobalInvocationID.x] = r * scale + float(__LINE__ - __LINE__) + float(__VERSION__);
#undef SIZE
}
