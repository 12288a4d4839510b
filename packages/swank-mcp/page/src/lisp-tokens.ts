/** What a piece of Lisp code is, for its colour. `plain` is everything without one. */
export type TokenKind =
  | "comment"
  | "string"
  | "character"
  | "keyword"
  | "number"
  | "operator"
  | "marker"
  | "paren"
  | "plain";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Each pattern matches at a place. The last ones match any character, so that no text is lost. */
const PATTERNS: readonly (readonly [kind: TokenKind | "symbol", pattern: RegExp])[] = [
  ["plain", /\s+/y],
  ["comment", /;[^\n]*/y],
  ["string", /"(?:[^"\\]|\\[\s\S])*"?/y],
  ["character", /#\\(?:[A-Za-z0-9][A-Za-z0-9_+-]*|[\s\S])?/uy],
  ["number", /#(?:[xXbBoO]|\d+[rR])[0-9a-zA-Z/+-]+/y],
  ["marker", /#'|#[+-](?=[\s(:\w])|#\d*[=#]|#[pPcCsSaA.,:*](?=[\s("0-9])|#(?=\()|'|`|,@|,\.|,/y],
  ["paren", /[()]/y],
  ["symbol", /(?:\|(?:[^|\\]|\\[\s\S])*\|?|\\[\s\S]?|[^\s()'"`,;|\\])+/uy],
  ["plain", /[\s\S]/uy],
];

const NUMBER = /^[+-]?(?:\d+\/\d+|\d+\.?|\d*\.\d+(?:[esfdlESFDL][+-]?\d+)?|\d+(?:\.\d*)?[esfdlESFDL][+-]?\d+)$/;

/** Operators that define, bind, or decide what is evaluated. */
const OPERATOR =
  /^(?:[a-z0-9-]+::?)?(?:def[a-z-]*|with-[a-z-]+|do-[a-z-]+|handler-(?:case|bind)|restart-(?:case|bind)|let\*?|flet|labels|macrolet|symbol-macrolet|lambda|named-lambda|progn|prog[12v]?\*?|if|when|unless|cond|[ec]?case|[ec]?typecase|and|or|not|loop|do\*?|dolist|dotimes|block|return(?:-from)?|tagbody|go|catch|throw|unwind-protect|the|locally|declare|declaim|proclaim|setq|setf|psetf|psetq|incf|decf|push|pop|multiple-value-(?:bind|call|prog1|setq|list)|destructuring-bind|eval-when|quote|function|funcall|apply|ignore-errors|assert|check-type|error|signal|warn|cerror|in-package|use-package|require|load)$/i;

/** Cuts Lisp code into pieces. Their texts together are the code, also if it ends in the middle of a form. */
export function lispTokens(code: string): readonly Token[] {
  const tokens: Token[] = [];
  let isHead = false;
  const add = (kind: TokenKind, text: string) => {
    const last = tokens.at(-1);
    if (last?.kind === kind) tokens[tokens.length - 1] = { kind, text: last.text + text };
    else tokens.push({ kind, text });
    if (kind === "paren") isHead = text.endsWith("(");
    else if (kind !== "comment" && text.trim() !== "") isHead = false;
  };
  for (let at = 0; at < code.length; ) {
    const [kind, text] = code.startsWith("#|", at) ? blockComment(code, at) : pieceAt(code, at);
    add(kind === "symbol" ? symbolKind(text, isHead) : kind, text);
    at += text.length;
  }
  return tokens;
}

function pieceAt(code: string, at: number): readonly [kind: TokenKind | "symbol", text: string] {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text !== undefined && text !== "") return [kind, text];
  }
  return ["plain", code.charAt(at)];
}

/** The comment at a `#|`, with those inside it. */
function blockComment(code: string, from: number): readonly ["comment", string] {
  const edges = /#\||\|#/g;
  edges.lastIndex = from;
  let depth = 0;
  for (let edge = edges.exec(code); edge !== null; edge = edges.exec(code)) {
    depth += edge[0] === "#|" ? 1 : -1;
    if (depth === 0) return ["comment", code.slice(from, edges.lastIndex)];
  }
  return ["comment", code.slice(from)];
}

function symbolKind(text: string, isHead: boolean): TokenKind {
  if (text.startsWith(":")) return "keyword";
  if (text.startsWith("&")) return "marker";
  if (NUMBER.test(text)) return "number";
  return isHead && OPERATOR.test(text) ? "operator" : "plain";
}

/** The pieces of each line. */
export function lispLines(lines: readonly string[]): readonly (readonly Token[])[] {
  const result: Token[][] = [[]];
  for (const { kind, text } of lispTokens(lines.join("\n"))) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) result.push([]);
      if (part !== "") result.at(-1)?.push({ kind, text: part });
    }
  }
  return result;
}
