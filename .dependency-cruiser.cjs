// The import matrix: which folder may import which, through its index.ts only. A change here is a change of the design
// and needs a record in docs/adr.
const may = {
  base: [],
  uapi: ["base"],
  isa: ["base"],
  spirv: ["base"],
  glsl: ["base", "spirv"],
  ir: ["base"],
  codeobj: ["base"],
  core: ["base", "ir", "isa", "codeobj"],
  compile: ["base", "glsl", "spirv", "core", "codeobj", "isa"],
  cache: ["base"],
  umd: ["base", "uapi", "codeobj"],
  kmd: ["base", "uapi"],
  debug: ["base", "uapi", "isa", "codeobj"],
  gpu: ["base", "uapi", "isa"],
  client: ["base", "codeobj"],
  service: [
    "base", "uapi", "isa", "spirv", "glsl", "ir", "codeobj", "core", "compile", "cache", "umd", "kmd", "debug", "gpu", "client",
  ],
  http: ["base", "codeobj", "service"],
  amber: ["base", "umd", "service", "compile", "codeobj", "debug"],
  cli: ["base", "service", "amber", "http", "client", "codeobj", "isa", "spirv", "ir", "umd", "debug", "cache", "compile"],
};
const assembly = {
  base: [],
  gen: [],
  compiler: ["base", "gen"],
  gpu: ["base", "gen"],
};

const folderRules = (root, matrix, tail) =>
  Object.entries(matrix).map(([folder, allowed]) => ({
    name: `${root}-${folder}`,
    comment: `${root}/${folder} may import ${allowed.join(", ") || "nothing of ours"}`,
    severity: "error",
    from: { path: `^${root}/${folder}/` },
    to: { path: `^${root}/`, pathNot: [`^${root}/${folder}/`, ...allowed.map((name) => `^${root}/${name}/${tail}`)] },
  }));

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "a cycle at run time; a type that two files of one folder share is none",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    ...folderRules("src", may, "(index|worker)\\.ts$"),
    ...folderRules("assembly", assembly, ""),
    {
      name: "front-door",
      comment: "another folder only through its index.ts",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: { path: "^src/[^/]+/", pathNot: ["^src/$1/", "^src/[^/]+/index\\.ts$"] },
    },
    {
      name: "assembly-alone",
      comment: "assembly never imports src, and src never imports assembly",
      severity: "error",
      from: { path: "^assembly/" },
      to: { path: "^(src|test|scripts)/" },
    },
    { name: "src-without-assembly", severity: "error", from: { path: "^src/" }, to: { path: "^(assembly|test|scripts)/" } },
    {
      name: "gpu-trusts-no-encoder",
      comment: "the simulator decodes for itself",
      severity: "error",
      from: { path: "^assembly/gpu/" },
      to: { path: "^assembly/gen/isa-encode" },
    },
    { name: "ir-knows-no-backend", severity: "error", from: { path: "^assembly/compiler/ir/" }, to: { path: "^assembly/compiler/(backend|passes|lift)/" } },
    { name: "passes-know-no-isa", severity: "error", from: { path: "^assembly/compiler/passes/" }, to: { path: "^assembly/(gen/isa|compiler/backend)" } },
    {
      name: "fastify-only-in-http",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/http/" },
      to: { path: "node_modules/(fastify|@fastify|@sinclair/typebox)" },
    },
    { name: "not-resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".mjs", ".json"] },
  },
};
