#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer B { int8_t a; u16vec3 b; float16_t c; f16vec4 d; int64_t e; u64vec2 f; f16mat2 g; uint8_t tail[]; } buf;
void main() {
  int16_t s = 3s; uint16_t us = 65535us; int64_t big = 0x7fffffffffffffffL; uint64_t ub = 18446744073709551615UL; float16_t h = 1.5hf;
  buf.a = int8_t(s) + buf.a; buf.b = u16vec3(us) * uint16_t(2); buf.c = h * buf.c; buf.d += f16vec4(h);
  buf.e = big + int64_t(s) - buf.e / 3L; buf.f = u64vec2(ub, uint64_t(buf.a)) << 2; buf.g = buf.g * buf.g;
  buf.tail[s] = uint8_t(buf.f.x); int32_t i = int32_t(big); float64_t dd = float64_t(h); dd += double(big); h = float16_t(dd); i = int(h) + s;
  buf.e = i; bool z = s < us; buf.tail[0] = uint8_t(z);
}
