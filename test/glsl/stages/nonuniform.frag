#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_demote_to_helper_invocation : require
#extension GL_EXT_multiview : require
layout(set = 0, binding = 0) uniform sampler2D maps[8];
layout(set = 0, binding = 1, rgba8) uniform image2D targets[4];
layout(set = 0, binding = 2) uniform Block { vec4 color; } blocks[4];
layout(location = 0) flat in int which;
layout(location = 0) out vec4 color;
void main() {
  int other = nonuniformEXT(which) + 1;
  color = texture(maps[nonuniformEXT(which)], vec2(0.5)) + blocks[nonuniformEXT(other & 3)].color;
  imageStore(targets[nonuniformEXT(which)], ivec2(gl_ViewIndex), color);
  if (color.x > 1.0) demote;
  if (helperInvocationEXT()) color = vec4(0.0);
}
