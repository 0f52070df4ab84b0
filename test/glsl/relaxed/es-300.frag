#version 300 es
precision highp float;
uniform float iTime;
uniform vec3 iResolution;
uniform sampler2D iChannel0;
out vec4 color;
float phase = iTime * 2.0;
void mainImage(out vec4 o, in vec2 at) { o = texture(iChannel0, at / iResolution.xy) * sin(phase); }
void main() { mainImage(color, gl_FragCoord.xy); }
