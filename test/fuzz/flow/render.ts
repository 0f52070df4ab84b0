import {
  type Callee,
  type Flow,
  INVOCATIONS,
  OWN,
  type Stage,
  type Statement,
  TABLE,
  UNIFORMS,
  WORDS,
} from "./language.ts";

function loopText(loop: Statement & { kind: "loop" }, indent: string): string {
  const { form, counter: i, step, test } = loop;
  const body = list(loop.body, `${indent}  `);
  const count = `${i} += ${step}u;`;
  switch (form) {
    case "for":
      return `${indent}for (uint ${i} = 0u; ${test.text}; ${i} += ${step}u) {\n${body}${indent}}\n`;
    case "while":
      return `${indent}{ uint ${i} = 0u; while (${test.text}) { ${count}\n${body}${indent}} }\n`;
    case "do":
      return `${indent}{ uint ${i} = 0u; do { ${count}\n${body}${indent}} while (${test.text}); }\n`;
    case "once":
      return `${indent}{ uint ${i} = 0u; for (;;) { ${count}\n${body}${indent}  break;\n${indent}} }\n`;
    case "ever": {
      const leave = list(loop.leave, `${indent}    `);
      return `${indent}{ uint ${i} = 0u; for (;;) { ${count}\n${indent}  if (!(${test.text})) {\n${leave}${indent}  }\n${body}${indent}} }\n`;
    }
  }
}

function one(statement: Statement, indent: string): string {
  switch (statement.kind) {
    case "do":
    case "kill":
      return `${indent}${statement.text}\n`;
    case "lanes": {
      const { op, to, of } = statement;
      const call =
        op === "Count"
          ? `subgroupBallotBitCount(subgroupBallot(${of.text}))`
          : op === "Elect"
            ? "subgroupElect()"
            : `subgroup${op}(${of.text})`;
      return `${indent}${to.text} = ${to.type}(${call});\n`;
    }
    case "if": {
      const { on, yes, no } = statement;
      const end = no === undefined ? "" : ` else {\n${list(no, `${indent}  `)}${indent}}`;
      return `${indent}if (${on.text}) {\n${list(yes, `${indent}  `)}${indent}}${end}\n`;
    }
    case "loop":
      return loopText(statement, indent);
    case "switch": {
      const cases = statement.cases.map(({ labels, isDefault, body }) => {
        const heads = [...labels.map((label) => `case ${label}u:`), ...(isDefault ? ["default:"] : [])];
        return `${indent}${heads.join(" ")} {\n${list(body, `${indent}  `)}${indent}}\n`;
      });
      return `${indent}switch (${statement.selector.text}) {\n${cases.join("")}${indent}}\n`;
    }
    case "jump":
      return `${indent}${statement.to}${statement.value === undefined ? "" : ` ${statement.value.text}`};\n`;
    case "call": {
      const { to, callee, values, changed } = statement;
      const given = [...(changed === undefined ? [] : [changed]), ...values].map(({ text }) => text);
      return `${indent}${to.text} = ${callee.name}(${given.join(", ")});\n`;
    }
    case "exchange": {
      const { to, of, from } = statement;
      return `${indent}e[id] = ${of.text}; barrier(); ${to.text} = e[${from.text} & ${INVOCATIONS - 1}u]; barrier();\n`;
    }
  }
}

function list(statements: readonly Statement[], indent: string): string {
  return statements.map((statement) => one(statement, indent)).join("");
}

function functionText({ name, type, parameters, writes, body }: Callee): string {
  const names = parameters.map((p, k) => `${writes && k === 0 ? "inout " : ""}${p.type} ${p.name}`);
  return `${type} ${name}(${names.join(", ")}) {\n${list(body, "  ")}}\n`;
}

const heads: Readonly<Record<Stage, string>> = {
  compute: `#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = ${INVOCATIONS}) in;
shared uint s[${OWN * INVOCATIONS}];
shared uint e[${INVOCATIONS}];
`,
  vertex: "layout(location = 0) in uvec4 given;\nlayout(location = 0) out uvec4 made;\n",
  fragment: `#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in flat uvec4 given;
layout(location = 1) in vec4 smooth_;
layout(location = 0) out uvec4 made;
`,
};

const starts: Readonly<Record<Stage, string>> = {
  compute: `  id = gl_LocalInvocationID.x;
  for (uint k = 0u; k < ${OWN}u; k++) s[${OWN}u * id + k] = id + k;
  for (uint k = 0u; k < ${WORDS}u; k++) o[${WORDS}u * id + k] = 0u;
`,
  vertex: `  id = uint(gl_VertexIndex) & ${INVOCATIONS - 1}u;\n`,
  fragment: `  id = (uint(gl_FragCoord.x) + 8u * uint(gl_FragCoord.y)) & ${INVOCATIONS - 1}u;\n`,
};

/** GLSL of a program: reads `a` (WORDS words an invocation), `u` and push constants, writes `o`. */
export function sourceOf({ stage, functions, body }: Flow): string {
  const isCompute = stage === "compute";
  return `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
${heads[stage]}layout(std430, binding = 0) readonly buffer A { uint a[]; };
${isCompute ? "layout(std430, binding = 1) buffer O { uint o[]; };\n" : ""}layout(std140, binding = 2) uniform U { uvec4 u[${UNIFORMS / 4}]; };
layout(push_constant) uniform P { uint push[2]; };
struct S { uint a; uint b[4]; uint64_t c; uint16_t h[2]; };
const uint table[8] = uint[](${TABLE.map((word) => `${word}u`).join(", ")});
uint x;
uint id;
${functions.map(functionText).join("")}void main() {
${starts[stage]}  x = ${stage === "compute" ? `a[${WORDS}u * id]` : `a[${WORDS}u * id] ^ given.x`};
${list(body, "  ")}}
`;
}
