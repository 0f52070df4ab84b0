#version 130
uniform sampler2DShadow shade;
uniform struct Light { vec3 position; float power; } lights[2];
smooth in vec3 place;
flat in int kind;
out vec4 first;
out vec4 second;
const float half_power = 0.5;
void main() {
  vec3 way = lights[kind & 1].position - place;
  first = vec4(shadow2D(shade, place).x) * lights[0].power * half_power;
  second = vec4(normalize(way), 1);
}
