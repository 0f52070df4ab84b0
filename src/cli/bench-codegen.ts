import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";
import { createLocalCompiler, recordAssembly } from "../service/index.ts";
import { type BenchShader, type BenchStage, benchStages } from "./bench-corpus.ts";
import type { PeerShader, Peers } from "./bench-peers.ts";

/** One shader's code, ours beside the peer's. Registers are the highest used + 1, read from both disassemblies. */
interface CodegenRow {
  readonly id: string;
  readonly stage: BenchStage;
  readonly instructions: number;
  readonly vgprs: number;
  readonly sgprs: number;
  readonly spills: number;
  readonly peer?: Omit<CodegenRow, "id" | "stage" | "peer">;
}

/** Means over the shaders that both sides compile; `undefined` without any. */
interface CodegenMeans {
  readonly shaders: number;
  readonly instructionsRatioGeomean: number | undefined;
  readonly vgprsRatioGeomean: number | undefined;
  readonly sgprsRatioGeomean: number | undefined;
  /** Shaders with more than 20 instructions here, or at the peer. */
  readonly above20: number;
  /** Shaders of more than 20 instructions, and more than twice the peer's. */
  readonly over2x: readonly string[];
  /** Shaders that spill where the peer does not. */
  readonly spills: readonly string[];
}

export interface CodegenResult extends CodegenMeans {
  readonly stages: Readonly<Partial<Record<BenchStage, CodegenMeans>>>;
  /** What this compiler refuses: id and message. */
  readonly refused: readonly { readonly id: string; readonly message: string }[];
  readonly rows: readonly CodegenRow[];
}

/** Highest register of a file that the text names, + 1; comments after `;` and `//` do not count. */
export function usedRegisters(assembly: string, file: "v" | "s"): number {
  const code = assembly.replace(/(;|\/\/).*$/gm, "");
  let used = 0;
  for (const [, single, last] of code.matchAll(new RegExp(`\\b${file}(?:(\\d+)\\b|\\[(?:\\d+:)?(\\d+)\\])`, "g"))) {
    used = Math.max(used, Number(single ?? last) + 1);
  }
  return used;
}

export function geomean(ratios: readonly number[]): number | undefined {
  if (ratios.length === 0) return undefined;
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

/** A shader without registers counts as one with one, so that ratios exist. */
const ratio = (ours: number, peers: number): number => Math.max(ours, 1) / Math.max(peers, 1);

function rowOf({ id, stage }: BenchShader, record: CompileRecord, peer: PeerShader | undefined): CodegenRow {
  const assembly = recordAssembly(record);
  const { stats } = record;
  return {
    id,
    stage,
    instructions: stats.instructions,
    vgprs: usedRegisters(assembly, "v"),
    sgprs: usedRegisters(assembly, "s"),
    spills: stats.spilledSgprs + stats.spilledVgprs,
    ...(peer !== undefined && {
      peer: {
        instructions: peer.instructions,
        vgprs: usedRegisters(peer.assembly, "v"),
        sgprs: usedRegisters(peer.assembly, "s"),
        spills: peer.spills,
      },
    }),
  };
}

function meansOf(rows: readonly CodegenRow[], hasPeers: boolean): CodegenMeans {
  const pairs = rows.flatMap((row) => (row.peer === undefined ? [] : [{ ours: row, peer: row.peer }]));
  const mean = (pick: (row: Omit<CodegenRow, "id" | "stage" | "peer">) => number) =>
    geomean(pairs.map(({ ours, peer }) => ratio(pick(ours), pick(peer))));
  return {
    shaders: hasPeers ? pairs.length : rows.length,
    instructionsRatioGeomean: mean((row) => row.instructions),
    vgprsRatioGeomean: mean((row) => row.vgprs),
    sgprsRatioGeomean: mean((row) => row.sgprs),
    above20: pairs.filter(({ ours, peer }) => Math.max(ours.instructions, peer.instructions) > 20).length,
    over2x: pairs
      .filter(({ ours, peer }) => ours.instructions > 20 && ours.instructions > 2 * peer.instructions)
      .map(({ ours }) => ours.id),
    spills: pairs.filter(({ ours, peer }) => ours.spills > 0 && peer.spills === 0).map(({ ours }) => ours.id),
  };
}

/**
 * Compiles every shader, without bounds checks (as the peer is measured), from the peer's words and for the peer's
 * pipeline state where there are some. Vertex fetch, exports and interpolation count on both sides: each is one piece of
 * code, the peer's pipelines being whole ones. With peers the means are over the shaders that both sides compile.
 */
export async function benchCodegen(shaders: readonly BenchShader[], peers: Peers | undefined): Promise<CodegenResult> {
  const compiler = createLocalCompiler();
  const rows: CodegenRow[] = [];
  const refused: { id: string; message: string }[] = [];
  for (const shader of shaders) {
    const { id, request } = shader;
    const words = peers?.words.get(id);
    // Not every text of a corpus is meant to be valid.
    if (peers?.refused.has(id) === true) continue;
    const pipeline = peers?.pipelines.get(id);
    const counterpart = peers?.counterparts.get(id);
    const asked: CompileRequest = {
      ...request,
      robustness: "none",
      ...(words !== undefined && { language: "spirv", spirv: words }),
      ...(pipeline !== undefined && { pipeline }),
    };
    // Constants that a vertex shader writes are the fragment shader's on both sides.
    const linked: CompileRequest | undefined =
      counterpart === undefined || shader.stage !== "vert"
        ? undefined
        : { ...asked, stage: "fragment", spirv: counterpart, pipeline: {} };
    const result = await compiler.compile(linked === undefined ? asked : { ...asked, linked });
    if (result.ok) rows.push(rowOf(shader, result.record, peers?.radv.get(id)));
    else refused.push({ id, message: result.diagnostics[0]?.message ?? "" });
  }
  const hasPeers = peers !== undefined;
  const stages = benchStages
    .map((stage) => [stage, rows.filter((row) => row.stage === stage)] as const)
    .filter(([, list]) => list.length > 0)
    .map(([stage, list]) => [stage, meansOf(list, hasPeers)] as const);
  return { ...meansOf(rows, hasPeers), stages: Object.fromEntries(stages), refused, rows };
}

const worst = 20;

/** The table that `kiln bench codegen` prints: means, then each stage's shaders that fare worst beside the peer. */
export function codegenTable(result: CodegenResult): string {
  const fixed = (value: number | undefined) => value?.toFixed(3) ?? "-";
  const lines = [
    "codegen, ours over the peer's (geometric means); over 2x: above 20 instructions; spills: where the peer has none",
    "  stage  shaders  instructions  vgprs  sgprs  over 2x  of above 20  spills",
  ];
  for (const [name, means] of [...Object.entries(result.stages), ["all", result as CodegenMeans] as const]) {
    const cells = [
      name.padEnd(5),
      String(means.shaders).padStart(8),
      fixed(means.instructionsRatioGeomean).padStart(13),
      fixed(means.vgprsRatioGeomean).padStart(6),
      fixed(means.sgprsRatioGeomean).padStart(6),
      String(means.over2x.length).padStart(8),
      String(means.above20).padStart(12),
      String(means.spills.length).padStart(7),
    ];
    lines.push(`  ${cells.join(" ")}`);
  }
  lines.push(`  refused: ${result.refused.length}`);
  const share = (row: CodegenRow) => row.instructions / (row.peer?.instructions ?? row.instructions);
  for (const stage of benchStages) {
    const rows = result.rows.filter((row) => row.stage === stage).sort((a, b) => share(b) - share(a));
    if (rows.length > 0) lines.push(`${stage}: instructions, vgprs, sgprs`);
    for (const { id, instructions, vgprs, sgprs, peer } of rows.slice(0, worst)) {
      const beside = peer === undefined ? "" : ` / ${peer.instructions} ${peer.vgprs} ${peer.sgprs}`;
      lines.push(`  ${id.padEnd(60)} ${instructions} ${vgprs} ${sgprs}${beside}`);
    }
  }
  return lines.join("\n");
}
