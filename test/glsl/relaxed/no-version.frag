#ifdef GL_ES
precision mediump float;
#endif
uniform sampler2D map;
uniform samplerCube env;
uniform vec3 tint;
uniform float weights[4];
uniform mat4 m;
uniform bool on;
varying vec2 uv;
varying vec3 normal;
float sample(float buffer) { return buffer * 2.0; }
void main() {
  vec4 c = texture2D(map, uv) * vec4(tint, 1) + textureCube(env, normal, 1.0) + weights[2];
  if (on) c = m * c * sample(1.0);
  gl_FragColor = c;
}
