/** Checks the import matrix of `.dependency-cruiser.cjs`; exits 1 on a forbidden import, a cycle, or when it saw no modules. */

import { createRequire } from "node:module";
import { cruise, type IReporterOutput } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

interface Summary {
  readonly totalCruised: number;
  readonly violations: readonly {
    readonly rule: { readonly name: string };
    readonly from: string;
    readonly to: string;
  }[];
}

/** The forbidden imports below `baseDir`, one `rule: from -> to` line each, and how many modules were read. */
export async function checkMatrix(baseDir: string): Promise<{ modules: number; violations: string[] }> {
  const require = createRequire(import.meta.url);
  const config = require("../.dependency-cruiser.cjs") as { forbidden: object[]; options: object };
  const result: IReporterOutput = await cruise(
    ["src", "assembly"],
    { ...config.options, ruleSet: { forbidden: config.forbidden as never }, validate: true, baseDir },
    undefined,
    { tsConfig: extractTSConfig(new URL("../tsconfig.json", import.meta.url).pathname) },
  );
  const { summary } = result.output as unknown as { summary: Summary };
  const violations = summary.violations.map((found) => `${found.rule.name}: ${found.from} -> ${found.to}`);
  return { modules: summary.totalCruised, violations };
}

if (process.argv[1]?.endsWith("import-matrix.ts")) {
  const { modules, violations } = await checkMatrix(process.cwd());
  for (const line of violations) console.error(line);
  console.log(`${modules} modules, ${violations.length} forbidden imports`);
  process.exit(modules > 0 && violations.length === 0 ? 0 : 1);
}
