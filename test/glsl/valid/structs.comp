#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) buffer Out { float y[]; };
struct Ray { vec3 origin; vec3 direction; };
struct Hit { float t; bool found; Ray ray; };
Hit intersect(Ray r, float radius) {
  float b = dot(r.origin, r.direction);
  float c = dot(r.origin, r.origin) - radius * radius;
  float h = b * b - c;
  Hit hit = Hit(-1.0, false, r);
  if (h >= 0.0) { hit.t = -b - sqrt(h); hit.found = true; }
  return hit;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  Ray r = Ray(vec3(0.0, 0.0, x[i] - 4.0), normalize(vec3(0.1, 0.2, 1.0)));
  Hit hit = intersect(r, 1.5);
  Hit other = hit;
  y[i] = hit.found && other == hit ? hit.t + other.ray.direction.z : 0.25;
}
