import type { Diagnostics } from "../diagnostics.ts";
import { Lexer } from "../lex.ts";
import { Lists } from "../lists.ts";
import { aroundMainImage, MAIN_IMAGE_FILE } from "../main-image.ts";
import type { Sources } from "../source.ts";
import { FIRST_ON_LINE, T, type Token, type TokenKind } from "../token.ts";
import { takeTokens } from "../tokens.ts";
import { parseDefinition } from "./definition.ts";
import { type ExpandState, expandAll, expandState, Stream, TokenList } from "./expand.ts";
import { evaluateCondition } from "./expression.ts";
import {
  type Behavior,
  behaviors,
  type ExtensionRange,
  glslExtensions,
  relaxedExtensions,
  supportedExtensions,
} from "./extensions.ts";
import { includedPath } from "./included-path.ts";
import { bringsOf, isOlderName } from "./keywords.ts";
import { Macros, sameMacro } from "./macro.ts";
import type { Preprocessed, PreprocessOptions } from "./result.ts";
import { defaultVersion, isSupportedVersion, nearestVersion, type Version } from "./version.ts";

const extensionSet: ReadonlySet<string> = new Set(supportedExtensions);
const everyExtension: ReadonlySet<string> = new Set(glslExtensions);
/** The tokens of the line that is read. */
const directiveTokens = new Lists();
const noFiles: readonly string[] = [];
const noExtensions: ReadonlyMap<string, Behavior> = new Map();
const noRanges: ReadonlyMap<string, ExtensionRange> = new Map();

/** What a request without definitions defines. */
export const noDefines: Readonly<Record<string, string>> = {};
const BYTE_ORDER_MARK = 0xfeff;
const INCLUDE_DEPTH_LIMIT = 64;
/** Files that one compile may include, each time counted, and the characters of them all. */
const INCLUDE_COUNT_LIMIT = 10_000;
const INCLUDE_TEXT_LIMIT = 4 * 1024 * 1024;

/** One open `#if`. */
interface Conditional {
  readonly place: Token;
  /** The enclosing group is read. */
  readonly outer: boolean;
  /** Some group of this `#if` was or is read. */
  taken: boolean;
  reading: boolean;
  sawElse: boolean;
}

interface OpenFile {
  readonly lexer: Lexer;
  readonly path: string;
  readonly conditionals: Conditional[];
}

/** Runs the whole preprocessor over a source: directives, macros, includes. Errors go to `diagnostics`. */
export function preprocess(options: PreprocessOptions, sources: Sources, diagnostics: Diagnostics): Preprocessed {
  return new Preprocessor(options, sources, diagnostics).run();
}

class Preprocessor {
  private readonly macros: Macros;
  private readonly state: ExpandState;
  private readonly stream: Stream;
  private readonly output = takeTokens();
  private files: OpenFile[] = [];
  private filesRead: Set<string> | undefined;
  private onceFiles: Set<string> | undefined;
  private extensions: Map<string, Behavior> | undefined;
  private extensionRanges: Map<string, ExtensionRange> | undefined;
  private version: Version | undefined;
  private sawDirective = false;
  private vulkanMemoryModel = false;
  private inclusions = 0;
  private includedLength = 0;
  /** Some extension makes names of sized number types keywords. */
  private explicitTypes = false;
  /** The first token of the line after a directive, when one was read to find the directive's end. */
  private pending: Token | undefined;
  private readonly options: PreprocessOptions;
  private readonly sources: Sources;
  private readonly diagnostics: Diagnostics;

  constructor(options: PreprocessOptions, sources: Sources, diagnostics: Diagnostics) {
    this.options = options;
    this.sources = sources;
    this.diagnostics = diagnostics;
    this.macros = new Macros(options.relaxed ? everyExtension : extensionSet, options.relaxed);
    this.state = expandState(this.macros, sources, diagnostics);
    this.stream = new Stream(this.state, this);
  }

  run(): Preprocessed {
    if (this.options.mainImage === true) this.openMainImage();
    else this.open(this.options.filename, this.options.source, "");
    const { defines } = this.options;
    if (defines !== noDefines) for (const name of Object.keys(defines)) this.requestDefine(name, defines[name]!);
    while (!this.state.exhausted) {
      const token = this.stream.idle && this.pending === undefined ? this.unusualToken() : this.stream.next();
      if (token.kind === T.Eof) {
        if (this.closeFile()) continue;
        this.output.add(T.Eof, "", token.position, token.end);
        break;
      }
      if (token.kind === T.Hash && (token.flags & FIRST_ON_LINE) !== 0) {
        this.directive(token);
      } else if (token.kind !== T.Identifier || !this.stream.expand(token)) {
        const { kind, text, keyword, position, end } = token;
        this.output.add(kind === T.Identifier ? this.kindOf(text, keyword) : kind, text, position, end);
      }
    }
    const version = this.version ?? this.setVersion(defaultVersion(this.options.relaxed), undefined);
    const { exhausted } = this.state;
    const { extensions = noExtensions, vulkanMemoryModel } = this;
    const filesRead = this.filesRead === undefined ? noFiles : [...this.filesRead];
    const extensionRanges = (filesRead.length === 0 ? this.extensionRanges : undefined) ?? noRanges;
    return { tokens: this.output, version, extensions, extensionRanges, vulkanMemoryModel, filesRead, exhausted };
  }

  /** Passes tokens on up to one that may be more than itself: a directive's `#`, a macro's name, the end of the file. */
  private unusualToken(): Token {
    const { output, macros } = this;
    const { lexer } = this.files[this.files.length - 1]!;
    for (;;) {
      lexer.advance();
      const { kind, word } = lexer;
      if (kind === T.Identifier) {
        if (macros.mayStartWith(lexer.initial)) return lexer.token();
        output.add(this.kindOf(word, lexer.keyword), word, lexer.position, lexer.end);
      } else if (kind === T.Eof || kind === T.Hash) {
        return lexer.token();
      } else {
        output.add(kind, word, lexer.position, lexer.end);
      }
    }
  }

  /** What a word that is no macro is to the parser. */
  private kindOf(word: string, keyword: TokenKind): TokenKind {
    if (keyword === T.Identifier || (this.options.relaxed && this.isOlderName(word))) return T.Identifier;
    if (keyword === T.SizedName) return this.explicitTypes ? T.TypeName : T.Identifier;
    return keyword;
  }

  /** A keyword of later versions, which an older shader may use as a name. */
  private isOlderName(text: string): boolean {
    return isOlderName(text, this.version ?? defaultVersion(this.options.relaxed), this.extensions ?? noExtensions);
  }

  private open(name: string, text: string, path: string): void {
    const marked = text.charCodeAt(0) === BYTE_ORDER_MARK;
    const source = this.sources.add(name, marked ? ` ${text.slice(1)}` : text);
    if (marked) this.diagnostics.error("GLSL_BYTE_ORDER_MARK", {}, source.base, source.base + 1);
    const file = { lexer: new Lexer(source, this), path, conditionals: [] };
    if (this.files.length === 0) this.files = [file];
    else this.files.push(file);
  }

  commentContinued(position: number): void {
    this.diagnostics.warn("GLSL_COMMENT_CONTINUED", {}, position, position + 2);
  }

  /** One file with the text around the source; places inside the source count from its own start. */
  private openMainImage(): void {
    const { text, start, tail } = aroundMainImage(this.options.source);
    this.open(MAIN_IMAGE_FILE, text, "");
    const { base, text: read } = this.files[0]!.lexer.file;
    this.sources.overrideLine(base + start - 1, 1, this.options.filename);
    this.sources.overrideLine(base + read.length - tail - 1, 1, MAIN_IMAGE_FILE);
  }

  /** Ends the innermost file; false where it was the shader itself. */
  private closeFile(): boolean {
    const file = this.files[this.files.length - 1]!;
    for (const open of file.conditionals) {
      this.diagnostics.error("GLSL_UNTERMINATED_IF", {}, open.place.position, open.place.end);
    }
    while (file.conditionals.length > 0) file.conditionals.pop();
    if (this.files.length === 1) return false;
    this.files.pop();
    return true;
  }

  rawToken(): Token {
    const pending = this.pending;
    if (pending !== undefined) {
      this.pending = undefined;
      return pending;
    }
    return this.files[this.files.length - 1]!.lexer.next();
  }

  /** Tokens up to the end of the directive's line. */
  private restOfDirective(): readonly Token[] {
    directiveTokens.top = 0;
    for (;;) {
      const token = this.rawToken();
      if ((token.flags & FIRST_ON_LINE) !== 0 || token.kind === T.Eof) {
        this.pending = token;
        return directiveTokens.end<Token>(0);
      }
      directiveTokens.add(token);
    }
  }

  private directive(hash: Token): void {
    const name = this.rawToken();
    if ((name.flags & FIRST_ON_LINE) !== 0 || name.kind === T.Eof) {
      this.pending = name;
      return;
    }
    const first = !this.sawDirective;
    this.sawDirective = true;
    switch (name.text) {
      case "version":
        this.versionDirective(hash, name, first);
        break;
      case "define":
        this.define(name, this.restOfDirective());
        break;
      case "undef":
        this.undefine(name, this.restOfDirective());
        break;
      case "if":
      case "ifdef":
      case "ifndef":
      case "elif":
      case "else":
      case "endif":
        this.conditional(name);
        break;
      case "error":
        this.errorDirective(name);
        break;
      case "pragma": {
        const tokens = this.restOfDirective();
        const file = this.files[this.files.length - 1]!;
        if (tokens[0]?.text === "once") {
          this.onceFiles ??= new Set();
          this.onceFiles.add(file.path);
        }
        if (tokens[0]?.text === "use_vulkan_memory_model") this.vulkanMemoryModel = true;
        break;
      }
      case "extension":
        this.extensionDirective(name, this.restOfDirective());
        break;
      case "line":
        this.lineDirective(name);
        break;
      case "include":
        this.include(name);
        break;
      default:
        this.restOfDirective();
        this.diagnostics.error("GLSL_BAD_DIRECTIVE", { name: name.text }, name.position, name.end);
    }
  }

  private errorDirective(name: Token): void {
    const lexer = this.files[this.files.length - 1]!.lexer;
    const text = lexer.restOfLine(name.end).trim();
    this.diagnostics.error("GLSL_ERROR_DIRECTIVE", { text }, name.position, name.end);
  }

  private versionDirective(hash: Token, name: Token, first: boolean): void {
    const tokens = this.restOfDirective();
    const number = tokens[0];
    const profile = tokens[1]?.text;
    if (!first || this.output.length > 0 || this.files.length > 1) {
      this.diagnostics.error("GLSL_VERSION_NOT_FIRST", {}, hash.position, name.end);
      if (this.version === undefined) this.setVersion({ number: 450, es: false }, undefined);
      return;
    }
    const es = profile === "es" || (this.options.relaxed && number?.text === "100" && profile === undefined);
    const version: Version = { number: number?.kind === T.Number ? Number(number.text) : Number.NaN, es };
    const knownProfile = profile === undefined || es || profile === "core" || profile === "compatibility";
    if (number === undefined || Number.isNaN(version.number) || !knownProfile || tokens.length > 2) {
      const at = tokens[0] ?? name;
      this.diagnostics.error("GLSL_BAD_VERSION", {}, at.position, tokens.at(-1)?.end ?? at.end);
      this.setVersion({ number: 450, es: false }, undefined);
      return;
    }
    this.setVersion(version, number);
  }

  /** Fixes the version, and the macros that go with it. An unsupported one is reported at `place`. */
  private setVersion(version: Version, place: Token | undefined): Version {
    let held = version;
    if (!isSupportedVersion(version, this.options.relaxed)) {
      const text = version.es ? `${version.number} es` : String(version.number);
      const start = this.files[0]!.lexer.file.base;
      const position = place?.position ?? start;
      if (place === undefined) this.diagnostics.errorLast("GLSL_NO_VERSION", {}, position, position);
      else this.diagnostics.errorLast("GLSL_UNSUPPORTED_VERSION", { version: text }, position, place.end);
      held = nearestVersion(version);
    }
    this.version = held;
    this.macros.setVersion(held, this.options.relaxed);
    return held;
  }

  /** A definition of the request: as if `#define NAME VALUE` stood first. */
  private requestDefine(name: string, value: string): void {
    if (!/^[A-Za-z_]\w*(\([\w, ]*\))?$/.test(name)) {
      const { base, text } = this.sources.add("<defines>", name);
      this.diagnostics.error("GLSL_BAD_MACRO_NAME", { name: name.slice(0, 80) }, base, base + text.length);
      return;
    }
    const lexer = new Lexer(this.sources.add("<defines>", `${name} ${value}`));
    const tokens: Token[] = [];
    for (let token = lexer.next(); token.kind !== T.Eof; token = lexer.next()) {
      tokens.push({ ...token, flags: token.flags & ~FIRST_ON_LINE });
    }
    const place = tokens[0] ?? lexer.next();
    this.define(place, tokens);
  }

  private define(directive: Token, tokens: readonly Token[]): void {
    const macro = parseDefinition(directive, tokens, this.diagnostics);
    if (macro === undefined || !this.checkMacroName(tokens[0]!)) return;
    const { name, position, end } = macro;
    const previous = this.macros.get(name);
    if (previous !== undefined && !sameMacro(previous, macro)) {
      this.diagnostics.error("GLSL_MACRO_REDEFINED", { name }, position, end, [
        { message: "previous definition", position: previous.position, end: previous.end },
      ]);
    }
    this.macros.set(name, macro);
  }

  private checkMacroName(name: Token): boolean {
    const builtIn = this.macros.get(name.text)?.dynamic !== undefined || name.text === "__VERSION__";
    if (name.text === "defined" || name.text.startsWith("GL_") || builtIn) {
      this.diagnostics.error("GLSL_BAD_MACRO_NAME", { name: name.text }, name.position, name.end);
      return false;
    }
    if (name.text.includes("__")) {
      this.diagnostics.warn("GLSL_RESERVED_NAME", { name: name.text }, name.position, name.end);
    }
    return true;
  }

  private undefine(directive: Token, tokens: readonly Token[]): void {
    const name = tokens[0];
    if (name?.kind !== T.Identifier) {
      this.diagnostics.error("GLSL_NO_MACRO_NAME", { directive: "undef" }, directive.position, directive.end);
      return;
    }
    this.noMore(directive, tokens.slice(1));
    // the reference compiler lets the language's own macros go, with the warning for their names
    const own = name.text.startsWith("__") && this.version?.es !== true;
    if (own) this.diagnostics.warn("GLSL_RESERVED_NAME", { name: name.text }, name.position, name.end);
    if (own || this.checkMacroName(name)) this.macros.delete(name.text);
  }

  private conditional(name: Token): void {
    const stack = this.files[this.files.length - 1]!.conditionals;
    const top = stack.at(-1);
    if (name.text === "endif") {
      this.noMore(name, this.restOfDirective());
      if (stack.pop() === undefined) this.unmatched(name);
    } else if (name.text === "else" || name.text === "elif") {
      // reached only while the group before is read, so the rest is skipped
      const tokens = this.restOfDirective();
      if (name.text === "else") this.noMore(name, tokens);
      if (top === undefined) {
        this.unmatched(name);
        return;
      }
      this.elseGroup(top, name);
    } else {
      const tokens = this.restOfDirective();
      const reading = this.opens(name, tokens);
      stack.push({ place: name, outer: true, taken: reading, reading, sawElse: false });
    }
    const now = stack.at(-1);
    if (now !== undefined && !now.reading) this.skip(stack);
  }

  private elseGroup(group: Conditional, name: Token): void {
    if (group.sawElse) this.diagnostics.error("GLSL_ELSE_AFTER_ELSE", { name: name.text }, name.position, name.end);
    if (name.text === "else") group.sawElse = true;
    group.reading = false;
  }

  private opens(name: Token, tokens: readonly Token[]): boolean {
    if (name.text === "if") return this.condition(name, tokens);
    const macro = tokens[0];
    if (macro?.kind !== T.Identifier) {
      this.diagnostics.error("GLSL_NO_MACRO_NAME", { directive: name.text }, name.position, name.end);
      return false;
    }
    this.noMore(name, tokens.slice(1));
    return this.macros.has(macro.text) === (name.text === "ifdef");
  }

  private condition(name: Token, tokens: readonly Token[]): boolean {
    const replaced: Token[] = [];
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!;
      if (token.kind !== T.Identifier || token.text !== "defined") {
        replaced.push(token);
        continue;
      }
      const parenthesised = tokens[at + 1]?.kind === T.LeftParen;
      const macro = tokens[at + (parenthesised ? 2 : 1)];
      if (macro?.kind !== T.Identifier || (parenthesised && tokens[at + 3]?.kind !== T.RightParen)) {
        this.diagnostics.error("GLSL_BAD_CONDITION", { found: macro?.text ?? "defined" }, token.position, token.end);
        return false;
      }
      replaced.push({ ...token, kind: T.Number, text: this.macros.has(macro.text) ? "1" : "0" });
      at += parenthesised ? 3 : 1;
    }
    const expanded = expandAll(new Stream(this.state, new TokenList(replaced)));
    if (this.state.exhausted) return false;
    const strict = this.version?.es === true;
    return (evaluateCondition(expanded, name, strict, this.diagnostics) ?? 0) !== 0;
  }

  /** Reads over groups that are not wanted, up to the `#elif`, `#else` or `#endif` that goes on. */
  private skip(stack: Conditional[]): void {
    const floor = stack.length;
    for (;;) {
      const token = this.rawToken();
      if (token.kind === T.Eof) {
        this.pending = token;
        return;
      }
      if (token.kind !== T.Hash || (token.flags & FIRST_ON_LINE) === 0) continue;
      const name = this.rawToken();
      if ((name.flags & FIRST_ON_LINE) !== 0) {
        this.pending = name;
        continue;
      }
      const top = stack[stack.length - 1]!;
      if (name.text === "if" || name.text === "ifdef" || name.text === "ifndef") {
        stack.push({ place: name, outer: false, taken: true, reading: false, sawElse: false });
      } else if (name.text === "endif") {
        this.noMore(name, this.restOfDirective());
        stack.pop();
        if (stack.length < floor) return;
      } else if (name.text === "else" || name.text === "elif") {
        this.elseGroup(top, name);
        const tokens = this.restOfDirective();
        if (top.outer && name.text === "else") this.noMore(name, tokens);
        if (!top.outer || top.taken) continue;
        top.reading = name.text === "else" || this.condition(name, tokens);
        top.taken = top.reading;
        if (top.reading) return;
      }
    }
  }

  private unmatched(name: Token): void {
    this.diagnostics.error("GLSL_UNMATCHED_DIRECTIVE", { name: name.text }, name.position, name.end);
  }

  private noMore(name: Token, tokens: readonly Token[]): void {
    const extra = tokens[0];
    if (extra === undefined) return;
    const { position, end } = extra;
    if (this.options.relaxed) this.diagnostics.warn("GLSL_EXTRA_TOKENS", { name: name.text }, position, end);
    else this.diagnostics.error("GLSL_EXTRA_TOKENS", { name: name.text }, position, end);
  }

  private extensionDirective(directive: Token, tokens: readonly Token[]): void {
    const [name, colon, behavior] = tokens;
    if (
      name?.kind !== T.Identifier ||
      colon?.kind !== T.Colon ||
      !behaviors.has(behavior?.text ?? "") ||
      tokens.length > 3
    ) {
      const at = tokens[3] ?? behavior ?? colon ?? name ?? directive;
      this.diagnostics.error("GLSL_BAD_EXTENSION", {}, at.position, at.end);
      return;
    }
    const how = behavior?.text as Behavior;
    if (name.text === "all") {
      if (how === "require" || how === "enable") {
        this.diagnostics.error("GLSL_EXTENSION_ALL", {}, name.position, name.end);
        return;
      }
      for (const each of supportedExtensions) {
        if (how === "warn" || this.extensions?.has(each) === true) this.setExtension(each, how, name);
      }
      if (how === "warn") this.explicitTypes = true;
      return;
    }
    const older = this.options.relaxed && relaxedExtensions.includes(name.text);
    if (!older && !extensionSet.has(name.text)) {
      if (how === "require") {
        this.diagnostics.error("GLSL_UNKNOWN_EXTENSION", { name: name.text }, name.position, name.end);
        this.diagnostics.refuse(name.text);
      } else {
        this.diagnostics.warn("GLSL_UNKNOWN_EXTENSION", { name: name.text }, name.position, name.end);
      }
      return;
    }
    this.setExtension(name.text, how, name);
    const { implied, bringsTypes } = bringsOf(name.text);
    if (implied !== undefined) this.setExtension(implied, how, name);
    if (bringsTypes && how !== "disable") this.explicitTypes = true;
  }

  private setExtension(name: string, how: Behavior, { position }: Token): void {
    this.extensions ??= new Map();
    const known = this.extensions.get(name);
    if (how === "disable") {
      if (known === undefined) this.extensions.set(name, how);
      if (known === undefined || known === "disable") return;
      // what used it before had it
      const from = this.extensionRanges?.get(name)?.from ?? -1;
      this.extensionRanges ??= new Map();
      this.extensionRanges.set(name, { from, to: position });
      return;
    }
    this.extensions.set(name, how);
    const range = this.extensionRanges?.get(name);
    if (range !== undefined) this.extensionRanges?.set(name, { from: range.from, to: Number.POSITIVE_INFINITY });
    else if ((known === undefined || known === "disable") && this.output.length > 0) {
      this.extensionRanges ??= new Map();
      this.extensionRanges.set(name, { from: position, to: Number.POSITIVE_INFINITY });
    }
  }

  private lineDirective(directive: Token): void {
    const tokens = expandAll(new Stream(this.state, new TokenList(this.restOfDirective())));
    if (this.state.exhausted) return;
    const [line, name] = tokens;
    const named = name === undefined || name.kind === T.Number || name.kind === T.String;
    if (line?.kind !== T.Number || !/^\d+$/.test(line.text) || !named || tokens.length > 2) {
      const at = line ?? directive;
      this.diagnostics.error("GLSL_BAD_LINE", {}, at.position, at.end);
      return;
    }
    if (name?.kind === T.Number) this.sources.overrideString(directive.position, Number(line.text), name.text);
    else this.sources.overrideLine(directive.position, Number(line.text), name?.text.slice(1, -1));
  }

  private include(directive: Token): void {
    const lexer = this.files[this.files.length - 1]!.lexer;
    const text = lexer.restOfLine(directive.end);
    const match = /^\s*(?:"([^"]*)"|<([^>]*)>)\s*(?:\/\/.*|\/\*.*)?$/.exec(text);
    const { position, end } = directive;
    const allowed = this.extensions?.get("GL_GOOGLE_include_directive");
    if (allowed === undefined || allowed === "disable") {
      this.diagnostics.error("GLSL_INCLUDE_NOT_ENABLED", {}, position, end);
      return;
    }
    const wanted = match?.[1] ?? match?.[2];
    if (wanted === undefined || wanted === "") {
      this.diagnostics.error("GLSL_BAD_INCLUDE", {}, position, end);
      return;
    }
    if (this.files.length > INCLUDE_DEPTH_LIMIT) {
      this.diagnostics.error("GLSL_INCLUDE_DEPTH", { name: wanted, limit: INCLUDE_DEPTH_LIMIT }, position, end);
      return;
    }
    const from = this.files[this.files.length - 1]!.path;
    const path = includedPath(this.options.includes, from, wanted, match?.[1] !== undefined);
    if (path === undefined) {
      this.diagnostics.error("GLSL_INCLUDE_NOT_FOUND", { name: wanted }, position, end);
      return;
    }
    this.filesRead ??= new Set();
    this.filesRead.add(path);
    if (this.onceFiles?.has(path) === true) return;
    const content = this.options.includes[path]!;
    if (this.mayInclude(content.length, directive)) this.open(path, content, path);
  }

  /** Counts an inclusion. One too many is reported and ends the preprocessor: what follows would miss its text. */
  private mayInclude(length: number, { position, end }: Token): boolean {
    this.inclusions++;
    this.includedLength += length;
    if (this.inclusions > INCLUDE_COUNT_LIMIT) {
      this.diagnostics.error("GLSL_INCLUDE_COUNT", { limit: INCLUDE_COUNT_LIMIT }, position, end);
    } else if (this.includedLength > INCLUDE_TEXT_LIMIT) {
      this.diagnostics.error("GLSL_INCLUDE_TEXT", { limit: INCLUDE_TEXT_LIMIT }, position, end);
    } else {
      return true;
    }
    this.state.exhausted = true;
    return false;
  }
}
