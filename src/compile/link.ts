import type { Diagnostic, DiagnosticNote, Span } from "../base/index.ts";
import type { CompileRequest, Stage } from "../codeobj/index.ts";
import type { Core, CoreFailure, CoreLink, CoreRequest, InterfaceScalar } from "../core/index.ts";
import { entryPoints, type InterfaceComponent, type Module, spanOf, stageInterface } from "../spirv/index.ts";
import { report } from "./codes.ts";

/** A stage on its way through the linker. */
export interface StageSide {
  readonly module: Module;
  readonly stage: Stage;
  readonly request: CompileRequest;
  readonly core: CoreRequest;
}

/** What lies between two stages: the components of the vertex stage's outputs and of the fragment stage's inputs. */
interface Between {
  readonly outputs: readonly InterfaceComponent[];
  readonly inputs: readonly InterfaceComponent[];
}

export type LinkResult =
  | { readonly ok: true; readonly link: CoreLink }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly stage: Stage; readonly failure: CoreFailure };

const scalarOf = ({ location, component }: InterfaceComponent): InterfaceScalar => 4 * location + component;
const typeOf = ({ kind, widthBits }: InterfaceComponent): string => `a ${widthBits}-bit ${kind}`;

function componentsOf({ module, stage, request }: StageSide): readonly InterfaceComponent[] {
  const entry = entryPoints(module.index).find((e) => e.name === request.entryPoint && e.stage === stage);
  const direction = stage === "vertex" ? "output" : "input";
  return entry === undefined ? [] : stageInterface(module, entry, direction, request.specialization);
}

/** Where a stage's code first names the variable; the start of its file where it does not. */
function placeOf({ module }: StageSide, { usedAt }: InterfaceComponent): Span {
  return spanOf(module, usedAt ?? 0);
}

function noteOf(side: StageSide, component: InterfaceComponent): DiagnosticNote {
  const { name, usedAt } = component;
  const how = usedAt === undefined ? "is declared in this file" : side.stage === "vertex" ? "is written" : "is read";
  return { message: `${name} of the ${side.stage} stage ${how}`, ...placeOf(side, component) };
}

/** Two variables of a stage on one component: one message a pair. */
function overlaps(side: StageSide, components: readonly InterfaceComponent[]): Diagnostic[] {
  const byScalar = new Map<InterfaceScalar, InterfaceComponent>();
  const told = new Set<string>();
  return components.flatMap((row) => {
    const other = byScalar.get(scalarOf(row));
    byScalar.set(scalarOf(row), other ?? row);
    const pair = `${other?.variable} ${row.variable}`;
    if (other === undefined || told.has(pair)) return [];
    told.add(pair);
    const { name, location, component } = row;
    const values = { name, other: other.name, stage: side.stage, location, component };
    return [{ ...report("LINK_OVERLAP", values, placeOf(side, row)), notes: [noteOf(side, other)] }];
  });
}

/** What the fragment stage reads and the vertex stage has not, or has of another type: one message a variable. */
function mismatches(vertex: StageSide, fragment: StageSide, { outputs, inputs }: Between): Diagnostic[] {
  const byScalar = new Map(outputs.map((row) => [scalarOf(row), row]));
  const told = new Set<string>();
  return inputs.flatMap((row) => {
    const { name, location, component } = row;
    if (row.usedAt === undefined || told.has(name)) return [];
    const other = byScalar.get(scalarOf(row));
    if (other !== undefined && other.kind === row.kind && other.widthBits === row.widthBits) return [];
    told.add(name);
    const span = placeOf(fragment, row);
    if (other === undefined) {
      const near = outputs.find((output) => output.location === location) ?? outputs[0];
      const missing = report("LINK_MISSING", { name, location, component }, span);
      const note =
        near === undefined ? { message: "the vertex stage", ...spanOf(vertex.module, 0) } : noteOf(vertex, near);
      return [{ ...missing, notes: [note] }];
    }
    const values = { name, location, component, want: typeOf(row), other: other.name, have: typeOf(other) };
    return [{ ...report("LINK_TYPE", values, span), notes: [noteOf(vertex, other)] }];
  });
}

/**
 * What `own` has to know of `other`, the other one of a vertex and a fragment stage. The order is: which of the vertex
 * stage's outputs are constants; what the fragment stage reads when it knows those; the vertex stage drops the rest.
 * Errors: LINK_STAGES, LINK_OVERLAP, LINK_MISSING, LINK_TYPE; or what the core refuses `other` for.
 */
export function linkStages(own: StageSide, other: StageSide, core: Core): LinkResult {
  const vertex = own.stage === "vertex" ? own : other;
  const fragment = own.stage === "vertex" ? other : own;
  if (vertex.stage !== "vertex" || fragment.stage !== "fragment") {
    return { ok: false, diagnostics: [report("LINK_STAGES", {}, spanOf(own.module, 0))] };
  }
  const between = { outputs: componentsOf(vertex), inputs: componentsOf(fragment) };
  const diagnostics = [
    ...overlaps(vertex, between.outputs),
    ...overlaps(fragment, between.inputs),
    ...mismatches(vertex, fragment, between),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };

  const first = core.linkFacts(vertex.core);
  if (!first.ok) return { ok: false, stage: "vertex", failure: first.failures[0]! };
  const written = new Set(first.facts.written);
  // What is declared and never written may have any value: 0 costs nothing.
  const never = between.outputs.map(scalarOf).filter((scalar) => !written.has(scalar));
  const known = [...first.facts.known, ...[...new Set(never)].map((scalar) => ({ scalar, bits: 0 }))];
  if (own === fragment) return { ok: true, link: { known } };
  const second = core.linkFacts({ ...fragment.core, link: { known } });
  if (!second.ok) return { ok: false, stage: "fragment", failure: second.failures[0]! };
  return { ok: true, link: { read: second.facts.read } };
}
