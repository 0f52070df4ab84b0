import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExpandedShader } from "./shader.ts";

/** What is used of the package: constructors by name, and the shaders that no material names. */
type Three = Readonly<Record<string, unknown>> & {
  readonly ShaderLib: Readonly<Record<string, { vertexShader: string; fragmentShader: string; uniforms: object }>>;
};

const VERTEX_SHADER = 35633;
const named: Readonly<Record<string, number>> = { VERTEX_SHADER, FRAGMENT_SHADER: 35632, VERSION: 7938 };

/** A WebGL 2 context that draws nothing and keeps every shader source. */
function recordingContext(onSource: (type: number, source: string) => void): object {
  const constants = new Map<string, number>(Object.entries(named));
  const answers: Readonly<Record<string, (...args: never[]) => unknown>> = {
    createShader: (type: number) => ({ type }),
    shaderSource: (shader: { type: number }, source: string) => onSource(shader.type, source),
    getContextAttributes: () => ({ alpha: true, depth: true, stencil: true }),
    getExtension: () => ({}),
    getSupportedExtensions: () => [],
    getShaderPrecisionFormat: () => ({ precision: 23, rangeMin: 127, rangeMax: 127 }),
    getParameter: (name: number) => {
      if (name === named.VERSION) return "WebGL 2.0";
      if (name === constants.get("VIEWPORT") || name === constants.get("SCISSOR_BOX")) return [0, 0, 64, 64];
      return 4096;
    },
    // no active attribute or uniform is listed, and every link succeeds
    getProgramParameter: (_: object, name: number) =>
      name === constants.get("ACTIVE_UNIFORMS") || name === constants.get("ACTIVE_ATTRIBUTES") ? 0 : true,
    getProgramInfoLog: () => "",
    getShaderInfoLog: () => "",
    getError: () => 0,
    isContextLost: () => false,
  };
  return new Proxy(
    {},
    {
      has: () => true,
      get: (_, name) => {
        if (typeof name !== "string") return undefined;
        const answer = answers[name];
        if (answer !== undefined) return answer;
        if (!/^[A-Z]/.test(name)) return () => ({});
        if (!constants.has(name)) constants.set(name, 100_000 + constants.size);
        return constants.get(name);
      },
    },
  );
}

/** Properties of materials that bring code of their own, tried one by one and all at once. */
const textureSlots =
  "map alphaMap aoMap lightMap bumpMap normalMap displacementMap emissiveMap specularMap roughnessMap metalnessMap gradientMap matcap clearcoatMap clearcoatNormalMap clearcoatRoughnessMap sheenColorMap sheenRoughnessMap transmissionMap thicknessMap iridescenceMap iridescenceThicknessMap anisotropyMap specularColorMap specularIntensityMap".split(
    " ",
  );
const numbers: Readonly<Record<string, unknown>> = {
  flatShading: true,
  vertexColors: true,
  alphaTest: 0.5,
  alphaHash: true,
  dithering: true,
  premultipliedAlpha: true,
  wireframe: true,
  clearcoat: 0.5,
  sheen: 0.5,
  transmission: 0.5,
  iridescence: 0.5,
  anisotropy: 0.5,
  dispersion: 0.5,
  side: 2,
};
const materials =
  "MeshBasicMaterial MeshLambertMaterial MeshPhongMaterial MeshStandardMaterial MeshPhysicalMaterial MeshToonMaterial MeshNormalMaterial MeshMatcapMaterial MeshDepthMaterial MeshDistanceMaterial PointsMaterial LineBasicMaterial LineDashedMaterial SpriteMaterial ShadowMaterial".split(
    " ",
  );

/**
 * The shaders of the npm package `three` in a folder, made by its own renderer: each built-in material with each of its
 * features, in a plain scene and in one with lights, shadows, fog, skinning, morphing, instances and clipping.
 */
export async function threeShaders(folder: string): Promise<ExpandedShader[]> {
  const url = pathToFileURL(join(resolve(folder), "build/three.module.js")).href;
  const three = (await import(url)) as Three;
  const make = <T = Record<string, unknown>>(name: string, ...args: unknown[]): T =>
    new (three[name] as new (...given: unknown[]) => T)(...args);
  const found = new Map<string, ExpandedShader>();
  let label = "";
  const context = recordingContext((type, source) => {
    if (found.has(source)) return;
    const stage = type === VERTEX_SHADER ? "vertex" : "fragment";
    found.set(source, { name: `${label} ${stage} ${found.size}`, stage, source });
  });
  const canvas = {
    width: 64,
    height: 64,
    style: {},
    addEventListener: () => {},
    removeEventListener: () => {},
    getContext: () => context,
  };
  interface Renderer {
    shadowMap: { enabled: boolean; type: number };
    localClippingEnabled: boolean;
    toneMapping: number;
    compile(scene: unknown, camera: unknown): void;
  }
  const renderer = make<Renderer>("WebGLRenderer", { canvas, context });
  const camera = make("PerspectiveCamera");
  const image = { width: 256, height: 256 };
  const texture = make("DataTexture", new Uint8Array(4), 1, 1);
  const cube = make("CubeTexture", [image, image, image, image, image, image]);
  // as the renderer's own filter lays an environment out
  const filtered = make("Texture", image, three.CubeUVReflectionMapping);

  const compile = (about: string, material: unknown, rich: boolean): void => {
    label = about;
    const scene = make<{ add(each: unknown): void; fog?: unknown; environment?: unknown }>("Scene");
    const geometry = make<{
      setAttribute(name: string, data: unknown): void;
      morphAttributes: Record<string, unknown>;
    }>("BoxGeometry");
    const attribute = (size: number): unknown => make("BufferAttribute", new Float32Array(24 * size), size);
    for (const [name, size] of [
      ["color", 4],
      ["tangent", 4],
      ["uv1", 2],
      ["skinIndex", 4],
      ["skinWeight", 4],
    ] as const) {
      geometry.setAttribute(name, attribute(size));
    }
    renderer.localClippingEnabled = rich;
    renderer.toneMapping = rich ? 4 : 0;
    if (rich) {
      for (const name of ["AmbientLight", "DirectionalLight", "PointLight", "SpotLight", "HemisphereLight"]) {
        const light = make<{ castShadow: boolean }>(name);
        light.castShadow = name !== "AmbientLight" && name !== "HemisphereLight";
        scene.add(light);
      }
      scene.add(make("RectAreaLight"));
      scene.fog = make("FogExp2", 0xffffff, 0.1);
      geometry.morphAttributes.position = [attribute(3)];
      geometry.morphAttributes.normal = [attribute(3)];
    }
    if (about.startsWith("Points")) scene.add(make("Points", geometry, material));
    else if (about.startsWith("Line")) scene.add(make("Line", geometry, material));
    else if (about.startsWith("Sprite")) scene.add(make("Sprite", material));
    else {
      scene.add(make("Mesh", geometry, material));
      if (rich) {
        scene.add(make("InstancedMesh", geometry, material, 2));
        const skinned = make<{ bind(skeleton: unknown): void }>("SkinnedMesh", geometry, material);
        skinned.bind(make("Skeleton", [make("Bone")]));
        scene.add(skinned);
      }
    }
    renderer.compile(scene, camera);
  };

  for (const shadows of [false, true]) {
    renderer.shadowMap.enabled = shadows;
    for (const name of materials) {
      const environment = /Standard|Physical/.test(name) ? filtered : cube;
      const plain = make<Record<string, unknown>>(name);
      const slots = textureSlots.filter((slot) => slot in plain);
      const switches = Object.keys(numbers).filter((key) => key in plain);
      const sets: Record<string, unknown>[] = [{}];
      if (!shadows) {
        for (const slot of slots) sets.push({ [slot]: texture });
        if ("envMap" in plain) sets.push({ envMap: environment });
        for (const key of switches) sets.push({ [key]: numbers[key] });
      }
      sets.push({
        ...Object.fromEntries(slots.map((slot) => [slot, texture])),
        ...Object.fromEntries(switches.map((key) => [key, numbers[key]])),
        clippingPlanes: [make("Plane"), make("Plane")],
      });
      for (const [at, values] of sets.entries()) {
        for (const rich of [false, true]) {
          compile(`${name} ${at} ${rich ? "rich" : "plain"}`, make(name, values), rich);
        }
      }
    }
  }
  for (const [name, { vertexShader, fragmentShader, uniforms }] of Object.entries(three.ShaderLib)) {
    const parts = { vertexShader, fragmentShader, uniforms, lights: false };
    const material = make("ShaderMaterial", parts);
    // what the renderer's background and depth passes set on theirs
    if (name === "backgroundCube") material.envMap = filtered;
    if (name === "depth") material.depthPacking = three.RGBADepthPacking;
    compile(`ShaderLib.${name}`, material, false);
  }
  return [...found.values()];
}
