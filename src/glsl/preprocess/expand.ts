import type { Diagnostics } from "../diagnostics.ts";
import { Lexer } from "../lex.ts";
import { type Sources, sourceFile } from "../source.ts";
import { FIRST_ON_LINE, NO_EXPAND, SPACE_BEFORE, T, type Token } from "../token.ts";
import { isPredefined, type Macro, type Macros } from "./macro.ts";

/** Tokens that one compile may make by macro expansion, and how deep macro calls may stand in arguments. */
const EXPANSION_LIMIT = 1_000_000;
/** Characters of a token that `##` makes. */
const PASTE_LIMIT = 65_536;
const ARGUMENT_DEPTH_LIMIT = 300;

interface Frame {
  readonly tokens: readonly Token[];
  at: number;
  readonly macro: Macro | undefined;
}

/** What all streams of one compile share. */
export interface ExpandState {
  readonly macros: Macros;
  readonly sources: Sources;
  readonly diagnostics: Diagnostics;
  budget: number;
  exhausted: boolean;
}

export function expandState(macros: Macros, sources: Sources, diagnostics: Diagnostics): ExpandState {
  return { macros, sources, diagnostics, budget: EXPANSION_LIMIT, exhausted: false };
}

const eof: Token = { kind: T.Eof, text: "", keyword: T.Eof, position: 0, end: 0, flags: FIRST_ON_LINE };

/** What a stream reads: each call gives one more token, and the end of the file again and again. */
interface TokenSource {
  rawToken(): Token;
}

/** The tokens of a list. */
export class TokenList implements TokenSource {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  rawToken(): Token {
    return this.tokens[this.at++] ?? eof;
  }
}

/** Tokens of `source` with expansions in front: C's rescanning, each macro blocked while its own expansion is read. */
export class Stream {
  private readonly frames: Frame[] = [];
  private peeked: Token | undefined;
  private readonly state: ExpandState;
  private readonly source: TokenSource;
  private readonly depth: number;

  constructor(state: ExpandState, source: TokenSource, depth = 0) {
    this.state = state;
    this.source = source;
    this.depth = depth;
  }

  /** Nothing is in front of the source: its next token is the stream's. */
  get idle(): boolean {
    return this.frames.length === 0 && this.peeked === undefined && !this.state.exhausted;
  }

  /** The next token, unexpanded. Past the budget there is none, or each open argument would be read to its end. */
  next(): Token {
    if (this.state.exhausted) return eof;
    while (this.frames.length > 0) {
      const top = this.frames[this.frames.length - 1]!;
      if (top.at < top.tokens.length) return top.tokens[top.at++]!;
      if (top.macro !== undefined) top.macro.active = false;
      this.frames.pop();
    }
    const token = this.peeked;
    if (token === undefined) return this.source.rawToken();
    this.peeked = undefined;
    return token;
  }

  private peek(): Token {
    for (let at = this.frames.length - 1; at >= 0; at--) {
      const frame = this.frames[at]!;
      if (frame.at < frame.tokens.length) return frame.tokens[frame.at]!;
    }
    this.peeked ??= this.source.rawToken();
    return this.peeked;
  }

  /** Puts back one token that came from the source. */
  putBack(token: Token): void {
    this.peeked = token;
  }

  /** If `token` is a macro's use, queues its expansion and returns true: read on. Otherwise the token stands. */
  expand(token: Token): boolean {
    const state = this.state;
    const macro = state.macros.get(token.text);
    if (macro === undefined || state.exhausted || (token.flags & NO_EXPAND) !== 0) return false;
    if (macro.active) {
      this.push([{ ...token, flags: token.flags | NO_EXPAND }], undefined);
      return true;
    }
    if (macro.dynamic !== undefined) {
      this.push([{ ...token, kind: T.Number, text: macro.dynamic(token, state.sources) }], undefined);
      return true;
    }
    let body: Token[];
    if (macro.parameters === undefined) {
      body = substitute(state, macro, token, [], []);
    } else {
      if (this.peek().kind !== T.LeftParen) return false;
      const args = this.readArguments(macro, token);
      if (args === undefined) return true;
      body = substitute(
        state,
        macro,
        token,
        args,
        args.map((arg) => this.expandArgument(arg, token)),
      );
    }
    // what is predefined never names itself, and shaders share it
    this.push(body, isPredefined(macro) ? undefined : macro);
    return true;
  }

  private push(tokens: readonly Token[], macro: Macro | undefined): void {
    const state = this.state;
    state.budget -= tokens.length + 1;
    if (state.budget < 0 && !state.exhausted) {
      state.exhausted = true;
      const at = tokens[0] ?? eof;
      state.diagnostics.error("GLSL_EXPANSION_TOO_LARGE", { limit: EXPANSION_LIMIT }, at.position, at.end);
    }
    if (macro !== undefined) macro.active = true;
    this.frames.push({ tokens, at: 0, macro });
  }

  private readArguments(macro: Macro, use: Token): Token[][] | undefined {
    const diagnostics = this.state.diagnostics;
    this.next();
    const args: Token[][] = [[]];
    let nesting = 0;
    for (;;) {
      const token = this.next();
      if (this.state.exhausted) return undefined;
      if (token.kind === T.Eof || (token.kind === T.Hash && (token.flags & FIRST_ON_LINE) !== 0)) {
        diagnostics.error("GLSL_MACRO_UNTERMINATED", { name: macro.name }, use.position, use.end);
        this.putBack(token);
        return undefined;
      }
      if (token.kind === T.RightParen && nesting-- === 0) break;
      if (token.kind === T.LeftParen) nesting++;
      if (token.kind === T.Comma && nesting === 0) args.push([]);
      else args[args.length - 1]!.push(token);
    }
    const wanted = macro.parameters?.length ?? 0;
    if (wanted === 0 && args.length === 1 && args[0]!.length === 0) return [];
    if (args.length !== wanted) {
      diagnostics.error(
        "GLSL_MACRO_ARGUMENTS",
        { name: macro.name, wanted, given: args.length },
        use.position,
        use.end,
      );
      return undefined;
    }
    return args;
  }

  private expandArgument(arg: readonly Token[], use: Token): Token[] {
    if (!arg.some((token) => token.kind === T.Identifier && this.state.macros.has(token.text))) return arg.slice();
    if (this.depth >= ARGUMENT_DEPTH_LIMIT) {
      this.state.diagnostics.error("GLSL_NESTING", { limit: ARGUMENT_DEPTH_LIMIT }, use.position, use.end);
      return arg.slice();
    }
    return expandAll(new Stream(this.state, new TokenList(arg), this.depth + 1));
  }
}

/** Everything up to the stream's end, expanded. */
export function expandAll(stream: Stream): Token[] {
  const result: Token[] = [];
  for (let token = stream.next(); token.kind !== T.Eof; token = stream.next()) {
    if (token.kind !== T.Identifier || !stream.expand(token)) result.push(token);
  }
  return result;
}

/** The token at the place of another. Written out: an expansion makes many. */
function placed({ kind, text, keyword }: Token, { position, end }: Token, flags: number): Token {
  return { kind, text, keyword, position, end, flags };
}

/** The body with arguments put in and `##` done. Body tokens take the place of the macro's use. */
function substitute(
  state: ExpandState,
  macro: Macro,
  use: Token,
  rawArgs: readonly (readonly Token[])[],
  args: readonly (readonly Token[])[],
): Token[] {
  const result: Token[] = [];
  const body = macro.body;
  if (body.length > 0 && (body[0]!.kind === T.HashHash || body[body.length - 1]!.kind === T.HashHash)) {
    state.diagnostics.error("GLSL_PASTE_AT_EDGE", {}, use.position, use.end);
    return [];
  }
  let pasting = false;
  for (let at = 0; at < body.length; at++) {
    const token = body[at]!;
    if (token.kind === T.HashHash) {
      pasting = true;
      continue;
    }
    const parameter = token.kind === T.Identifier ? (macro.parameters?.indexOf(token.text) ?? -1) : -1;
    let piece: readonly Token[];
    if (parameter < 0) {
      piece = [placed(token, use, token.flags & ~(FIRST_ON_LINE | SPACE_BEFORE))];
    } else if (pasting || body[at + 1]?.kind === T.HashHash) {
      piece = rawArgs[parameter]!;
      if (piece.length === 0) piece = [{ ...token, kind: T.Placemarker, text: "" }];
    } else {
      piece = args[parameter]!;
    }
    if (pasting && result.length > 0 && piece.length > 0) {
      const count = joinedCount(piece);
      let joined = result.pop()!;
      for (let i = 0; i < count; i++) joined = paste(state, joined, piece[i]!, use);
      result.push(joined);
      piece = piece.slice(count);
    }
    for (const each of piece) {
      result.push((each.flags & FIRST_ON_LINE) === 0 ? each : placed(each, each, each.flags & ~FIRST_ON_LINE));
    }
    pasting = false;
    // an argument may stand in the body often: what is above the budget is not made at all
    if (result.length > state.budget) break;
  }
  return result.some((token) => token.kind === T.Placemarker)
    ? result.filter((token) => token.kind !== T.Placemarker)
    : result;
}

/**
 * How many tokens at the start of an argument `##` joins: words and numbers behind the first that no space of the source
 * parts from it (`1D` is two tokens). Spaces inside a macro's body part nothing, as the reference has it.
 */
function joinedCount(piece: readonly Token[]): number {
  let count = 1;
  while (count < piece.length) {
    const { kind, flags } = piece[count]!;
    if ((kind !== T.Identifier && kind !== T.Number) || (flags & SPACE_BEFORE) !== 0) break;
    count++;
  }
  return piece[0]!.kind === T.Identifier || piece[0]!.kind === T.Number ? count : 1;
}

function paste(state: ExpandState, left: Token, right: Token, use: Token): Token {
  if (left.kind === T.Placemarker) return right;
  if (right.kind === T.Placemarker) return left;
  const text = left.text + right.text;
  if (text.length > PASTE_LIMIT) {
    state.diagnostics.error("GLSL_PASTE_TOO_LONG", { limit: PASTE_LIMIT }, use.position, use.end);
    state.exhausted = true;
    return left;
  }
  state.budget -= text.length >> 4;
  const lexer = new Lexer(sourceFile("", text, 0));
  const token = lexer.next();
  if (lexer.next().kind !== T.Eof || token.kind === T.Bad || token.text !== text) {
    state.diagnostics.error("GLSL_BAD_PASTE", { left: left.text, right: right.text }, use.position, use.end);
    return left;
  }
  return placed(token, use, left.flags & SPACE_BEFORE);
}
