import type { AmberContext } from "./amber-context.ts";
import { readNamed } from "./amber-shaders.ts";
import {
  type DataType,
  type ElementLayout,
  type LayoutRule,
  layoutElement,
  parseAmberType,
  parseFormat,
  type StructMember,
} from "./data-type.ts";
import type { ScriptBuffer } from "./script.ts";
import { ScriptError, ScriptReader } from "./source.ts";
import { bytesFor, type Literal, leafAt, parseLiteral, writeLiterals } from "./values.ts";

const maxBufferBytes = 1 << 30;

function readType({ reader, structs }: AmberContext, text: string): DataType {
  const type = parseAmberType(text, structs);
  if (type === undefined) throw new ScriptError(reader.line, `there is no type ${text}`);
  return type;
}

/** `STRUCT name [STRIDE n]` and its members up to END. */
export function readStruct(context: AmberContext): void {
  const { reader, structs } = context;
  const line = reader.line;
  const name = reader.word("struct name");
  if (parseAmberType(name, structs) !== undefined) throw new ScriptError(line, `there is a type ${name} already`);
  const stride = reader.accept("STRIDE") ? reader.integer("stride", 1) : undefined;
  reader.endStatement("STRUCT");
  const members: StructMember[] = [];
  for (;;) {
    if (!reader.nextStatement()) throw new ScriptError(line, "STRUCT has no END");
    if (reader.accept("END")) break;
    members.push(readMember(context, members));
    reader.endStatement("struct member");
  }
  if (members.length === 0) throw new ScriptError(line, `struct ${name} has no members`);
  structs.set(name, { is: "struct", name, members, ...(stride !== undefined && { stride }) });
}

function readMember(context: AmberContext, before: readonly StructMember[]): StructMember {
  const { reader } = context;
  let type = readType(context, reader.word("type"));
  const name = reader.word("member name");
  if (before.some((member) => member.name === name)) {
    throw new ScriptError(reader.line, `there is a member ${name} already`);
  }
  let offset: number | undefined;
  while (reader.peek() !== undefined) {
    const field = reader.oneOf("field of a member", [
      "OFFSET",
      "ARRAY_STRIDE",
      "MATRIX_STRIDE",
      "ROW_MAJOR",
      "COL_MAJOR",
    ]);
    if (field === "OFFSET") offset = reader.integer("offset");
    else if (field === "ARRAY_STRIDE") {
      if (type.is !== "array") throw new ScriptError(reader.line, `ARRAY_STRIDE on ${name}, which is no array`);
      type = { ...type, stride: reader.integer("stride", 1) };
    } else {
      const change =
        field === "MATRIX_STRIDE" ? { stride: reader.integer("stride", 1) } : { rowMajor: field === "ROW_MAJOR" };
      if (type.is === "matrix") type = { ...type, ...change };
      else if (type.is === "array" && type.element.is === "matrix")
        type = { ...type, element: { ...type.element, ...change } };
      else throw new ScriptError(reader.line, `${field} on ${name}, which is no matrix`);
    }
  }
  return { name, type, ...(offset !== undefined && { offset }) };
}

/** `BUFFER name …` in all its forms. */
export function readBuffer(context: AmberContext): void {
  const { reader, buffers, limits } = context;
  const line = reader.line;
  const name = reader.word("buffer name");
  const form = reader.oneOf("buffer form", ["DATA_TYPE", "FORMAT"]);
  if (form === "FORMAT") {
    const type = readFormat(context);
    readLevelsAndSamples(context);
    if (reader.accept("FILE")) {
      reader.expect("PNG");
      readNamed(context.readFile, reader.word("path"), line);
      limits.skip(line, "PNG images");
    }
    const layout = layoutElement(type, "std430");
    buffers.add(name, { name, type, layout, bytes: new Uint8Array(), attachment: true, line }, line);
    return;
  }
  const type = readType(context, reader.word("type"));
  const rule: LayoutRule = reader.accept("STD140") ? "std140" : "std430";
  if (rule === "std430") reader.accept("STD430");
  const layout = layoutElement(type, rule);
  let items: number | undefined;
  if (reader.accept("SIZE")) items = reader.integer("size in items", 1);
  else if (reader.accept("WIDTH")) {
    const width = reader.integer("width", 1);
    reader.expect("HEIGHT");
    items = width * reader.integer("height", 1);
  }
  const bytes = readContents(context, layout, items, name);
  buffers.add(name, { name, type, layout, bytes, attachment: false, line }, line);
}

function readLevelsAndSamples({ reader }: AmberContext): void {
  for (;;) {
    if (reader.accept("MIP_LEVELS")) reader.integer("number of mip levels", 1);
    else if (reader.accept("SAMPLES")) {
      const count = reader.integer("number of samples", 1);
      if (![1, 2, 4, 8, 16, 32, 64].includes(count)) {
        throw new ScriptError(reader.line, `${count} is no number of samples`);
      }
    } else return;
  }
}

function readFormat({ reader }: AmberContext): DataType {
  const name = reader.word("format");
  const type = parseFormat(name);
  if (type === undefined) throw new ScriptError(reader.line, `there is no format ${name}`);
  return type;
}

/**
 * The initialiser that makes a buffer's bytes; `items` of the SIZE before it. The integers of `texels` wrap: the
 * reference keeps the low bits of a texel's component, and scripts of the conformance tests count on it.
 */
function readContents(
  context: AmberContext,
  layout: ElementLayout,
  items: number | undefined,
  name: string,
  texels = false,
): Uint8Array {
  const { reader } = context;
  const line = reader.line;
  const sized = () => {
    if (items === undefined) throw new ScriptError(line, `buffer ${name} has no SIZE`);
    if (items * layout.sizeBytes > maxBufferBytes) throw new ScriptError(line, `buffer ${name} is over 1 GiB`);
    return new Uint8Array(items * layout.sizeBytes);
  };
  const how = reader.oneOf("initializer", ["DATA", "FILL", "SERIES_FROM", "FILE"]);
  if (how === "FILL") {
    const bytes = sized();
    return repeated(bytes, layout, parseLiteral({ text: reader.word("fill value"), line: reader.line, quoted: false }));
  }
  if (how === "SERIES_FROM") {
    const from = parseLiteral({ text: reader.word("start"), line: reader.line, quoted: false });
    reader.expect("INC_BY");
    const step = parseLiteral({ text: reader.word("increment"), line: reader.line, quoted: false });
    const bytes = sized();
    writeLiterals(bytes, layout, 0, series(from, step, (items ?? 0) * layout.leaves.length, layout));
    return bytes;
  }
  if (how === "DATA") {
    const literals = reader.wordsUntil("END", "DATA").map(parseLiteral);
    return fromLiterals(context, layout, items, texels ? wrapped(literals, layout) : literals, name);
  }
  const kind = reader.oneOf("kind of file", ["BINARY", "TEXT", "PNG"]);
  const content = readNamed(context.readFile, reader.word("path"), line);
  if (kind === "PNG") {
    context.limits.skip(line, "PNG images");
    return items === undefined ? new Uint8Array() : sized();
  }
  if (kind === "BINARY") {
    if (items === undefined) return Uint8Array.from(content);
    const bytes = sized();
    if (content.length !== bytes.length) {
      throw new ScriptError(line, `the file has ${content.length} bytes, buffer ${name} has ${bytes.length}`);
    }
    bytes.set(content);
    return bytes;
  }
  const text = new ScriptReader(new TextDecoder().decode(content));
  const literals: Literal[] = [];
  while (text.nextStatement()) literals.push(...text.rest().map((word) => parseLiteral({ ...word, line })));
  // a file may hold more than the SIZE asks for: the buffer has room for it all
  const needed = Math.ceil(literals.length / layout.leaves.length);
  return fromLiterals(context, layout, items === undefined ? undefined : Math.max(items, needed), literals, name);
}

/** Integers brought into the width of the component that each is for. */
function wrapped(literals: readonly Literal[], layout: ElementLayout): Literal[] {
  return literals.map((literal, i) => {
    const { integer } = literal;
    return integer === undefined
      ? literal
      : { ...literal, integer: BigInt.asUintN(leafAt(layout, 0, i).leaf.scalar.bits, integer) };
  });
}

function fromLiterals(
  { reader }: AmberContext,
  layout: ElementLayout,
  items: number | undefined,
  literals: readonly Literal[],
  name: string,
): Uint8Array {
  if (literals.length === 0) throw new ScriptError(reader.line, `buffer ${name} has no data`);
  const room = items === undefined ? bytesFor(layout, literals.length) : items * layout.sizeBytes;
  if (bytesFor(layout, literals.length) > room) {
    throw new ScriptError(reader.line, `${literals.length} values are too many for the SIZE of buffer ${name}`);
  }
  const bytes = new Uint8Array(room);
  writeLiterals(bytes, layout, 0, literals);
  return bytes;
}

/** Every component of every element the same. */
function repeated(bytes: Uint8Array, layout: ElementLayout, literal: Literal): Uint8Array {
  const element = bytes.subarray(0, layout.sizeBytes);
  writeLiterals(
    element,
    layout,
    0,
    layout.leaves.map(() => literal),
  );
  for (let done = layout.sizeBytes; done < bytes.length; done *= 2) {
    bytes.copyWithin(done, 0, Math.min(done, bytes.length - done));
  }
  return bytes;
}

/** Integers add exactly; floats add in the precision of the component before. */
function series(from: Literal, step: Literal, count: number, layout: ElementLayout): Literal[] {
  const { line } = from;
  if (from.integer !== undefined && step.integer !== undefined) {
    let integer = from.integer;
    return Array.from({ length: count }, () => {
      const literal = { integer, real: Number(integer), line };
      integer += step.integer as bigint;
      return literal;
    });
  }
  const round = leafAt(layout, 0, 0).leaf.scalar.bits === 32 ? Math.fround : (x: number) => x;
  let real = round(from.real);
  return Array.from({ length: count }, () => {
    const literal = { integer: undefined, real, line };
    real = round(real + round(step.real));
    return literal;
  });
}

/** `IMAGE name …`: kept as a buffer of its texels. */
export function readImage(context: AmberContext): void {
  const { reader, buffers, limits } = context;
  const line = reader.line;
  const name = reader.word("image name");
  limits.skip(line, "images");
  const form = reader.oneOf("image form", ["DATA_TYPE", "FORMAT"]);
  const type = form === "FORMAT" ? readFormat(context) : readType(context, reader.word("type"));
  readLevelsAndSamples(context);
  const dimensions = Number(reader.oneOf("dimensionality", ["DIM_1D", "DIM_2D", "DIM_3D"])[4]);
  let items = 1;
  for (const side of ["WIDTH", "HEIGHT", "DEPTH"].slice(0, dimensions)) {
    reader.expect(side);
    items *= reader.integer(side.toLowerCase(), 1);
  }
  readLevelsAndSamples(context);
  const layout = layoutElement(type, "std430");
  const bytes =
    reader.peek() === undefined
      ? new Uint8Array(items * layout.sizeBytes)
      : readContents(context, layout, items, name, true);
  const buffer: ScriptBuffer = { name, type, layout, bytes, attachment: false, line };
  buffers.add(name, buffer, line);
}
