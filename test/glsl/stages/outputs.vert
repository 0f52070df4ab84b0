#version 460
out gl_PerVertex { invariant vec4 gl_Position; float gl_ClipDistance[3]; };
layout(location=0) in vec4 p;
layout(location=0) out Blk { vec4 a; vec2 b[2]; flat int c; };
layout(location=5) out struct { vec4 x; float y; } st[2];
void main() { gl_Position = p; gl_ClipDistance[1] = 2.0; a = p; b[1] = p.xy; c = gl_DrawID + gl_VertexIndex; st[1].y = 1.0; st[0].x = p; }
