#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_shader_image_load_formatted : require
layout(local_size_x = 8) in;
layout(set = 1, binding = 0) uniform image2D anything;
layout(set = 1, binding = 1, rgba32f) readonly uniform image3D volume;
layout(set = 1, binding = 2, r32i) coherent uniform iimage1D line;
layout(set = 1, binding = 3) writeonly uniform imageCube sky;
layout(set = 1, binding = 4) uniform texture2DArray layers;
layout(set = 1, binding = 5) uniform utextureBuffer words;
layout(set = 1, binding = 6) uniform sampler2D plain;
layout(set = 1, binding = 7, rg16) restrict uniform image2DArray pairs[2];

ivec3 size(texture2DArray t, int level) { return textureSize(t, level); }
void fill(writeonly imageCube c, vec4 color) { imageStore(c, ivec3(gl_LocalInvocationID), color); }

void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  vec4 color = imageLoad(anything, at) + imageLoad(volume, ivec3(at, 0)) + texture(plain, vec2(at));
  color += texelFetch(layers, size(layers, 0), 1);
  color.x += float(imageAtomicMax(line, at.x, 3) + imageAtomicCompSwap(line, 1, 2, 3) + imageAtomicExchange(line, 1, 2));
  color.y += float(texelFetch(words, at.x).w + textureQueryLevels(layers));
  fill(sky, color);
  imageStore(pairs[at.y & 1], ivec3(0, 1, 2), color + float(imageSize(pairs[0]).z));
}
