#version 450
layout(set=0,binding=0) uniform sampler2D tex;
layout(set=0,binding=1) uniform sampler2DShadow sh;
layout(set=0,binding=2) uniform texture2D t2;
layout(set=0,binding=3) uniform sampler smp;
layout(set=0,binding=4, rgba8) uniform image2D im;
layout(set=0,binding=5, r32ui) uniform uimage2DArray ui[4];
layout(set=0,binding=6, input_attachment_index=1) uniform subpassInput sp;
layout(set=0,binding=7) uniform samplerCubeArrayShadow ca;
layout(set=0,binding=8) uniform sampler1DShadow s1;
layout(set=0,binding=9) uniform isamplerBuffer ib;
layout(set=0,binding=10) uniform texture2D tarr[5];
layout(set=0,binding=11) uniform sampler2DMS ms;
layout(location=0) in vec4 v;
layout(location=1) flat in int idx;
layout(location=0) out vec4 o;
vec4 f(sampler2D s, vec2 p) { return texture(s, p) + textureLod(s, p, 1.0); }
vec4 h(texture2D t) { return texture(sampler2D(t, smp), vec2(0.5)); }
void main() {
  o = f(tex, v.xy) + texture(sampler2D(t2, smp), v.xy) + imageLoad(im, ivec2(1)) + h(t2) + h(tarr[idx]);
  o += textureProj(tex, v) + textureProj(tex, v.xyz, 1.0) + textureGrad(tex, v.xy, v.xy, v.zw) + textureOffset(tex, v.xy, ivec2(1,2));
  o.x += texture(sh, v.xyz) + textureProj(sh, v) + texture(ca, v, 0.5) + texture(s1, v.xyz)+ textureProj(s1, v);
  o += textureGather(tex, v.xy, 1) + textureGatherOffsets(tex, v.xy, ivec2[4](ivec2(0),ivec2(1),ivec2(2),ivec2(3)));
  o += subpassLoad(sp) + vec4(texelFetch(ib, idx)) + texelFetch(ms, ivec2(0), 1) + texelFetch(tex, ivec2(0), 0);
  uint z = imageAtomicAdd(ui[idx], ivec3(0), 1u) + imageLoad(ui[1], ivec3(1)).x;
  imageStore(im, ivec2(z), o);
  o.xy += vec2(textureSize(tex, 0)) + vec2(imageSize(im)) + textureQueryLod(tex, v.xy) + float(textureQueryLevels(tex));
  o += texture(sampler2D(tarr[idx], smp), v.x > 0.0 ? v.xy : texture(tex, v.zw).xy);
}
