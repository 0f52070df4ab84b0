#version 450
layout(early_fragment_tests) in;
in vec4 gl_FragCoord;
layout(depth_greater) out float gl_FragDepth;
layout(location=0) in Blk { vec4 a; centroid vec2 b[2]; flat int c; } blk;
layout(location=6) in struct { vec4 x; float y; } st;
layout(location=8, component=1) in float q;
layout(location=0, index=0) out vec4 o;
void main() {
 if (gl_HelperInvocation) discard;
 o = blk.a + vec4(blk.b[1], st.y, q) * float(blk.c) * float(gl_SampleID + gl_SampleMaskIn[0] + gl_PrimitiveID + gl_Layer) + gl_FragCoord;
 o += interpolateAtCentroid(blk.a) + interpolateAtSample(q, 2) + interpolateAtOffset(st.x.xy, vec2(0.1)).xyxy;
 gl_FragDepth = gl_SamplePosition.x; gl_SampleMask[0] = 1;
 o.x += gl_ClipDistance[2];
}
