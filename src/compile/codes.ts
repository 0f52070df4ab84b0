import { type Diagnostic, defineCodes, fileSpan, type HoleValues, reporter } from "../base/index.ts";

/** What compiling as a whole refuses; each language and the core have tables of their own. */
export const compileCodes = defineCodes({
  COMPILE_NO_STAGE: { status: 422, blame: "caller", text: "GLSL needs a stage: compute, vertex or fragment" },
  COMPILE_PIPELINE: { status: 422, blame: "caller", text: "pipeline state: {what}" },
  COMPILE_LAYOUT_MISSING: {
    status: 422,
    blame: "caller",
    text: "{name} uses set {set} binding {binding}, which the pipeline layout does not have",
  },
  COMPILE_LAYOUT_MISMATCH: {
    status: 422,
    blame: "caller",
    text: "{name} at set {set} binding {binding} needs {count} {want}, the pipeline layout has {have}",
  },
  COMPILE_SPEC_VALUE: {
    status: 422,
    blame: "caller",
    text: "specialisation constant {id} is a {type}, {value} is none",
  },
  COMPILE_LINKED_STAGE: { status: 422, blame: "caller", text: "the {stage} stage of the pipeline does not compile" },
  LINK_STAGES: { status: 422, blame: "caller", text: "a pipeline of two stages has a vertex and a fragment stage" },
  LINK_MISSING: {
    status: 422,
    blame: "caller",
    text: "{name} at location {location} component {component} is read here, and the vertex stage has no such output",
  },
  LINK_TYPE: {
    status: 422,
    blame: "caller",
    text: "{name} at location {location} component {component} is {want}, and the vertex stage's {other} is {have}",
  },
  LINK_OVERLAP: {
    status: 422,
    blame: "caller",
    text: "{name} and {other} of the {stage} stage both take location {location} component {component}",
  },
  COMPILE_WARNING_AS_ERROR: { status: 422, blame: "caller", text: "warnings are errors here" },
});

export const report = reporter(compileCodes);

/** A message about the file as a whole. */
export function reportCompile<K extends keyof typeof compileCodes & string>(
  code: K,
  values: HoleValues<(typeof compileCodes)[K]["text"]>,
  file: string,
): Diagnostic {
  return report(code, values, fileSpan(file));
}
