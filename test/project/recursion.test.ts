import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

/** The lifter refuses types that nest deeper, before anything walks them. */
const typeLevels = "levels of a type: MAX_DEPTH of lift/types.ts";

/**
 * Groups of functions of the compiler core that call each other or themselves, and what bounds their depth: nothing in
 * the core may recurse as deep as its input nests.
 */
const bounded: Readonly<Record<string, string>> = {
  "backend/build.ts:salu": "once: a move of a literal has one literal",
  "backend/machine.ts:component backend/machine.ts:vregOperand": "none: a parameter has the function's name",
  "backend/values.ts:conditionInScc backend/values.ts:maskOf backend/values.ts:plainMask":
    "once: a comparison of scalars asks for no mask",
  "ir/range.ts:counterBound ir/range.ts:upperBound": "a depth that is counted: 7",
  "ir/range.ts:zeroBits": "a depth that is counted: 7",
  "lift/interface.ts:locationsOf": typeLevels,
  "lift/operands.ts:isPlain": typeLevels,
  "lift/pointers.ts:describe": typeLevels,
  "lift/scalars.ts:storeScalars": typeLevels,
  "lift/scratch.ts:holdsScalars": typeLevels,
  "lift/scratch.ts:holdsWords": typeLevels,
  "lift/wide.ts:divide lift/wide.ts:divideSigned lift/wide.ts:mulHigh lift/wide.ts:wide1 lift/wide.ts:wide2":
    "ops made of simpler ops of the same table",
  "passes/opt-algebraic.ts:build": "the rule's own nesting",
  "passes/opt-algebraic.ts:matchSources passes/opt-algebraic.ts:matches": "the rule's own nesting",
  "passes/opt-algebraic.ts:valueAt": "the rule's own nesting",
  "passes/opt-half.ts:halfOf passes/opt-half.ts:two": "as deep as `isHalf` finds something",
  "passes/opt-half.ts:isHalf": "a depth that is counted",
  "passes/opt-offsets.ts:boundWithout": "as deep as `constantIn` finds something",
  "passes/opt-offsets.ts:constantIn": "a depth that is counted",
  "passes/opt-offsets.ts:without": "as deep as `constantIn` finds something",
  "passes/opt-pack.ts:gain": "a depth that is counted",
  "passes/opt-pack.ts:packed": "as deep as `gain` finds something",
};

const folders = ["assembly/base", "assembly/compiler", "assembly/gen"];
const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name)),
);

interface Module {
  /** Local name of each function or method to the node of its body. */
  readonly functions: Map<string, ts.Node>;
  /** Local name to where it comes from. */
  readonly imports: Map<string, { readonly file: string; readonly name: string }>;
  /** Exported name to where it comes from, of `export … from`. */
  readonly passedOn: Map<string, { readonly file: string; readonly name: string }>;
}

function read(file: string): Module {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const functions = new Map<string, ts.Node>();
  const imports: Module["imports"] = new Map();
  const passedOn: Module["passedOn"] = new Map();
  for (const node of source.statements) {
    const from = (specifier: ts.Expression) => join(dirname(file), (specifier as ts.StringLiteral).text);
    if (ts.isFunctionDeclaration(node) && node.name && node.body) functions.set(node.name.text, node.body);
    if (ts.isClassDeclaration(node)) {
      for (const member of node.members) {
        if (ts.isMethodDeclaration(member) && member.body) {
          functions.set(`${node.name?.text}.${member.name.getText()}`, member.body);
        }
      }
    }
    if (ts.isImportDeclaration(node) && node.importClause?.namedBindings) {
      if (!ts.isNamedImports(node.importClause.namedBindings)) continue;
      for (const { name, propertyName } of node.importClause.namedBindings.elements) {
        imports.set(name.text, { file: from(node.moduleSpecifier), name: (propertyName ?? name).text });
      }
    }
    if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      node.exportClause &&
      ts.isNamedExports(node.exportClause)
    ) {
      for (const { name, propertyName } of node.exportClause.elements) {
        passedOn.set(name.text, { file: from(node.moduleSpecifier), name: (propertyName ?? name).text });
      }
    }
  }
  return { functions, imports, passedOn };
}

/** Every function to those that it names: `file:function`. A name that is no call counts too, as it may be called. */
function graphOf(modules: ReadonlyMap<string, Module>): Map<string, Set<string>> {
  const home = (file: string, name: string): string | undefined => {
    const module = modules.get(file);
    if (module === undefined) return undefined;
    if (module.functions.has(name)) return `${file}:${name}`;
    const from = module.passedOn.get(name) ?? module.imports.get(name);
    return from && home(from.file, from.name);
  };
  const graph = new Map<string, Set<string>>();
  for (const [file, { functions }] of modules) {
    for (const [name, body] of functions) {
      const called = new Set<string>();
      const visit = (node: ts.Node): void => {
        if (ts.isIdentifier(node) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)) {
          const to = home(file, node.text);
          if (to !== undefined) called.add(to);
        }
        // A method of whatever class has one of this name, by `this` at least its own.
        if (ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) {
          const own = `${file}:${name.split(".")[0]}.${node.name.text}`;
          if (functions.has(own.slice(file.length + 1))) called.add(own);
        }
        ts.forEachChild(node, visit);
      };
      visit(body);
      graph.set(`${file}:${name}`, called);
    }
  }
  return graph;
}

/** Strongly connected groups of more than one function, and functions that call themselves; members sorted. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node)!, low.get(next)!));
      } else if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, index.get(next)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || graph.get(node)?.has(node)) groups.push(group.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return groups;
}

describe("recursion in the compiler core", () => {
  const graph = graphOf(new Map(files.map((file) => [file, read(file)])));

  it("reads the whole core", () => {
    expect(graph.size).toBeGreaterThan(1500);
    const reached = [...(graph.get("assembly/compiler/backend/index.ts:emit") ?? [])];
    expect(reached).toContain("assembly/compiler/backend/encode.ts:encode");
  });

  it("finds cycles", () => {
    const calls = new Map([
      ["a", new Set(["b", "d"])],
      ["b", new Set(["c"])],
      ["c", new Set(["a"])],
      ["d", new Set(["d"])],
      ["e", new Set(["a"])],
    ]);
    expect(cyclesOf(calls)).toEqual([["d"], ["a", "b", "c"]]);
  });

  it("is where its depth is bounded, and nowhere else", () => {
    const found = cyclesOf(graph).map((group) => group.map((name) => name.replace("assembly/compiler/", "")).join(" "));
    expect(found.sort()).toEqual(Object.keys(bounded).sort());
  });
});
