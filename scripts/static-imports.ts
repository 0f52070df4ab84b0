/**
 * `const { a } = await import("./x.ts")` becomes an import that is always there, but for modules in `left`. For a bundle of
 * what one command needs anyway: a module that may be loaded late is kept whole and made behind a door of its own, while
 * of what is imported at once the bundler leaves out what nobody uses.
 */
export function staticImports(text: string, left: readonly string[]): string {
  const heads: string[] = [];
  const rest = text.replace(dynamicImport, (whole: string, names: string, from: string) => {
    if (left.some((module) => from.endsWith(`/${module}`))) return whole;
    heads.push(`import { ${names.trim()} } from ${JSON.stringify(from)};`);
    return "";
  });
  return `${heads.join("\n")}\n${rest}`;
}

const dynamicImport = /^ *const \{([\w ,]+)\} = await import\("([^"]+)"\);$/gm;
