import { cutText } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";
import { translateError } from "./debugger-refusals.js";
import { Refusal } from "./refusal.js";

interface Explanation {
  readonly message: string;
  readonly type: string;
  readonly next: string;
}

/** JSON-RPC's code for errors that a server defines; the contract debugger-tools uses it for every refusal. */
const SERVER_ERROR = -32000;

/** Most characters of a message and of an advice: both may repeat the caller's input. */
const MAX_MESSAGE = 8000;

/** Turns an error of a tool into the contract's error object and an equivalent text. */
export function explainError(thrown: unknown, guide: ToolGuide = EVERY_TOOL): ToolAnswer {
  const { type, ...texts } = explain(translateError(thrown));
  const message = cutText(texts.message, MAX_MESSAGE);
  // The client cancelled the call itself, and needs no advice.
  const next = type === "CANCELLED" ? undefined : cutText(guide.advice(texts.next), MAX_MESSAGE);
  return {
    blocks: [next === undefined ? message : `${message}\n${next}`],
    isError: true,
    structured: { error: { code: SERVER_ERROR, message, data: { type, ...(next === undefined ? {} : { next }) } } },
  };
}

/** Whether an error was not expected, so that its stack must be reported. */
export function isDefect(thrown: unknown): boolean {
  return !isCoded(thrown) || thrown.code === "INTERNAL_ERROR";
}

function explain(thrown: unknown): Explanation {
  if (isCoded(thrown)) return { message: thrown.message, type: thrown.code, next: thrown.remedy };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return explain(new Refusal("INTERNAL_ERROR", `The server failed: ${message}`, { cause: thrown }));
}

/** Checks the fields instead of the class, since `swank-client` is loaded only when Lisp is needed. Both packages' errors have them. */
function isCoded(thrown: unknown): thrown is Error & { readonly code: string; readonly remedy: string } {
  return (
    thrown instanceof Error &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    "remedy" in thrown &&
    typeof thrown.remedy === "string"
  );
}
