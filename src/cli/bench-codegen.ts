import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";
import { createLocalCompiler, recordAssembly } from "../service/index.ts";
import type { BenchShader } from "./bench-corpus.ts";
import type { PeerShader, Peers } from "./bench-peers.ts";

/** One shader's code, ours beside the peer's. Registers are the highest used + 1, read from both disassemblies. */
interface CodegenRow {
  readonly id: string;
  readonly instructions: number;
  readonly vgprs: number;
  readonly sgprs: number;
  readonly spills: number;
  readonly peer?: Omit<CodegenRow, "id" | "peer">;
}

export interface CodegenResult {
  readonly shaders: number;
  readonly instructionsRatioGeomean: number | undefined;
  readonly vgprsRatioGeomean: number | undefined;
  readonly sgprsRatioGeomean: number | undefined;
  /** Shaders of more than 20 instructions, and more than twice the peer's. */
  readonly over2x: readonly string[];
  /** Shaders that spill where the peer does not. */
  readonly spills: readonly string[];
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

function rowOf(id: string, record: CompileRecord, peer: PeerShader | undefined): CodegenRow {
  const assembly = recordAssembly(record);
  const { stats } = record;
  return {
    id,
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

/**
 * Compiles every shader, without bounds checks (as the peer is measured), from the peer's words where there are some.
 * With peers the means are over the shaders that both sides compile.
 */
export async function benchCodegen(shaders: readonly BenchShader[], peers: Peers | undefined): Promise<CodegenResult> {
  const compiler = createLocalCompiler();
  const rows: CodegenRow[] = [];
  const refused: { id: string; message: string }[] = [];
  for (const { id, request } of shaders) {
    const words = peers?.words.get(id);
    const asked: CompileRequest = {
      ...request,
      robustness: "none",
      ...(words !== undefined && { language: "spirv", spirv: words }),
    };
    const result = await compiler.compile(asked);
    if (result.ok) rows.push(rowOf(id, result.record, peers?.radv.get(id)));
    else refused.push({ id, message: result.diagnostics[0]?.message ?? "" });
  }
  const pairs = rows.flatMap((row) => (row.peer === undefined ? [] : [{ ours: row, peer: row.peer }]));
  const mean = (pick: (row: Omit<CodegenRow, "id" | "peer">) => number) =>
    geomean(pairs.map(({ ours, peer }) => ratio(pick(ours), pick(peer))));
  return {
    shaders: peers === undefined ? rows.length : pairs.length,
    instructionsRatioGeomean: mean((row) => row.instructions),
    vgprsRatioGeomean: mean((row) => row.vgprs),
    sgprsRatioGeomean: mean((row) => row.sgprs),
    over2x: pairs
      .filter(({ ours, peer }) => ours.instructions > 20 && ours.instructions > 2 * peer.instructions)
      .map(({ ours }) => ours.id),
    spills: pairs.filter(({ ours, peer }) => ours.spills > 0 && peer.spills === 0).map(({ ours }) => ours.id),
    refused,
    rows,
  };
}

const worst = 20;

/** The table that `kiln bench codegen` prints: means, then the shaders that fare worst beside the peer. */
export function codegenTable(result: CodegenResult): string {
  const fixed = (value: number | undefined) => value?.toFixed(3) ?? "not measured";
  const lines = [
    `codegen, ${result.shaders} shaders, ours over the peer's (geometric means)`,
    `  instructions ${fixed(result.instructionsRatioGeomean)}`,
    `  vgprs        ${fixed(result.vgprsRatioGeomean)}`,
    `  sgprs        ${fixed(result.sgprsRatioGeomean)}`,
    `  over twice   ${result.over2x.length}`,
    `  spills where the peer has none: ${result.spills.length}; refused: ${result.refused.length}`,
  ];
  const share = (row: CodegenRow) => row.instructions / (row.peer?.instructions ?? row.instructions);
  const rows = [...result.rows].sort((a, b) => share(b) - share(a)).slice(0, worst);
  for (const { id, instructions, vgprs, sgprs, peer } of rows) {
    const beside = peer === undefined ? "" : ` / ${peer.instructions} ${peer.vgprs} ${peer.sgprs}`;
    lines.push(`  ${id.padEnd(60)} ${instructions} ${vgprs} ${sgprs}${beside}`);
  }
  return lines.join("\n");
}
