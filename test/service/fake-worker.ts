import { readFileSync, writeFileSync } from "node:fs";
import { parentPort, threadId } from "node:worker_threads";
import { encodeRecord } from "../../src/codeobj/index.ts";
import { type CompileTask, markStarted, type TaskAnswer } from "../../src/service/task.ts";
import { fakeRecord } from "./fake-record.ts";

/**
 * Stands in for the compile worker where a test looks at the service around it. The source says what to do, a word a
 * line: `sleep N`, `hang`, `eat` (memory), `exit`, `throw`, `write FILE`, `read FILE`, `environment`
 * (a bug that names its variables), `bug`, `errors N`, `include NAME`; anything else compiles.
 */
export default async function run(task: CompileTask): Promise<TaskAnswer> {
  markStarted(task);
  const { request, reports } = task;
  const source = request.source ?? Buffer.from(request.spirv ?? []).toString("hex");
  const filesRead: string[] = [];
  let errors = 0;
  for (const line of source.split("\n")) {
    const [word, value = ""] = line.split(" ");
    if (word === "sleep") await new Promise((resolve) => setTimeout(resolve, Number(value)));
    if (word === "hang") for (;;);
    if (word === "eat") for (const kept: number[][] = []; ; ) kept.push(new Array(100_000).fill(Math.random()));
    if (word === "write") writeFileSync(value, "written");
    if (word === "read") readFileSync(value);
    if (word === "environment") return { kind: "bug", detail: Object.keys(process.env).join(" ") };
    if (word === "exit") process.exit(7);
    if (word === "throw") throw new Error("thrown");
    if (word === "bug") return { kind: "bug", detail: "secret stack trace" };
    if (word === "errors") errors = Number(value);
    if (word === "include") filesRead.push(value);
  }
  if (errors > 0) {
    const at = { file: request.filename, column: 1, endColumn: 2 };
    const diagnostics = Array.from({ length: errors }, (_, i) => {
      return { severity: "error", code: "FAKE", message: "m", line: i + 1, endLine: i + 1, ...at } as const;
    });
    return { kind: "refused", diagnostics, microseconds: 5 };
  }
  const text = [source, ...filesRead.map((name) => request.includes[name])].join("\n");
  const record = encodeRecord(fakeRecord(text, request, `${threadId}${parentPort === null ? "" : "w"}`));
  const plain = { spirv: new Uint8Array([3, 2, 35, 7]), ir: `file ${request.filename}`, passes: [] };
  return { kind: "record", record, filesRead, microseconds: 1000, ...(reports !== undefined && { reports: plain }) };
}
