import { cutText } from "./format/cut.js";
import { Refusal } from "./refusal.js";
import type { ToolAnswer } from "./tool-answer.js";

interface Explanation {
  readonly message: string;
  readonly type: string;
  readonly next: string;
}

/** JSON-RPC's code for errors that a server defines; the contract debugger-tools uses it for every refusal. */
const SERVER_ERROR = -32000;

/** Longest message, and longest advice: either may repeat what the caller gave. */
const MAX_MESSAGE = 8000;

/** Turns whatever a tool threw into the contract's error object, and the same in words, so that either is enough. */
export function explainError(thrown: unknown): ToolAnswer {
  const { type, ...texts } = explain(thrown);
  const message = cutText(texts.message, MAX_MESSAGE);
  const next = cutText(texts.next, MAX_MESSAGE);
  return {
    blocks: [`${message}\n${next}`],
    isError: true,
    structured: { error: { code: SERVER_ERROR, message, data: { type, next } } },
  };
}

/** Whether this is an error that was not expected, so that only its stack says where it comes from. */
export function isDefect(thrown: unknown): boolean {
  return !isCoded(thrown) || thrown.code === "INTERNAL_ERROR";
}

function explain(thrown: unknown): Explanation {
  if (isCoded(thrown)) return { message: thrown.message, type: thrown.code, next: thrown.remedy };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return explain(new Refusal("INTERNAL_ERROR", `The server failed: ${message}`, { cause: thrown }));
}

/** Told by shape, not class: `swank-client` is not loaded before Lisp is needed, and both packages' errors have these fields. */
function isCoded(thrown: unknown): thrown is Error & { readonly code: string; readonly remedy: string } {
  return (
    thrown instanceof Error &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    "remedy" in thrown &&
    typeof thrown.remedy === "string"
  );
}
