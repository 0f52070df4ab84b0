#version 100
attribute vec4 position;
attribute vec3 n;
uniform mat4 view;
varying vec3 normal;
varying vec2 uv;
void main() { gl_Position = view * position; normal = n; uv = position.xy; gl_PointSize = 1.0; }
