/**
 * What Shadertoy puts around a shader that has `mainImage` alone. GLSL ES 3.00 in the relaxed dialect gathers the
 * uniforms into one std140 block, in this order; the channels take bindings 0 to 3 and the block the one after.
 */
const before = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp samplerCube;
precision highp sampler3D;
#define HW_PERFORMANCE 1
#define texture2D texture
#define textureCube texture
#define texture2DLodEXT textureLod
#define texture2DGradEXT textureGrad
#define textureCubeLodEXT textureLod
#define iGlobalTime iTime
uniform vec3 iResolution;
uniform float iTime;
uniform float iTimeDelta;
uniform float iFrameRate;
uniform int iFrame;
uniform vec4 iMouse;
uniform vec4 iDate;
uniform float iSampleRate;
uniform float iChannelTime[4];
uniform vec3 iChannelResolution[4];
layout(binding = 0) uniform sampler2D iChannel0;
layout(binding = 1) uniform sampler2D iChannel1;
layout(binding = 2) uniform sampler2D iChannel2;
layout(binding = 3) uniform sampler2D iChannel3;
layout(location = 0) out vec4 mainImageColor;
`;

const after = `
void main() {
  vec4 color = vec4(0.0, 0.0, 0.0, 1.0);
  mainImage(color, gl_FragCoord.xy);
  mainImageColor = vec4(color.rgb, 1.0);
}
`;

/** The name that the added text has in messages. */
export const MAIN_IMAGE_FILE = "<mainImage>";

/** The whole shader around a source with `mainImage`, where the source starts in it, and the length behind its end. */
export function aroundMainImage(source: string): {
  readonly text: string;
  readonly start: number;
  readonly tail: number;
} {
  return { text: `${before}${source}${after}`, start: before.length, tail: after.length - 1 };
}
