import { read, type Sexp } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

function unknown(name: string, text: string): MessageCase {
  return [`unknown: ${text}`, text, { type: "unknown", name, datum: read(text) }];
}

function malformed(text: string, name: string, problem: string, id?: number): MessageCase {
  const datum: Sexp = read(text);
  return [`malformed: ${text}`, text, { type: "malformed", name, problem, datum, id }];
}

export const ODD: readonly MessageCase[] = [
  unknown("brand-new", '(:brand-new 1 "two" (three))'),
  unknown("brand-new", "(:brand-new)"),
  unknown("ping", "(:ping . 3)"),
  malformed("(:ping 3)", "ping", "ping.tag: expected an element that is missing, found (3)"),
  malformed('(:debug "x" 1)', "debug", 'debug.thread: expected an integer below 2^53, found "x"'),
  malformed("(:write-string nil)", "write-string", "write-string.text: expected a string, found nil"),
  malformed(
    "(:return (:maybe 1) 6)",
    "return",
    "return.reply: expected a list that begins with :ok or :abort or :refused, found (:maybe 1)",
    6,
  ),
  malformed(
    "(:return 6)",
    "return",
    "return.reply: expected a list that begins with :ok or :abort or :refused, found 6",
  ),
  malformed(
    "(:invalid-rpc 6)",
    "invalid-rpc",
    "invalid-rpc.message: expected an element that is missing, found (6)",
    6,
  ),
  [
    "unreadable: a reply",
    '(:return (:ok #<foo "unclosed) 21)',
    {
      type: "unreadable",
      text: '(:return (:ok #<foo "unclosed) 21)',
      problem: "The text ends inside #<...>; the position is the #. (UNCLOSED_UNREADABLE at line 1, column 15)",
      id: 21,
    },
  ],
  [
    "unreadable: an event",
    "(:new-features (:a :b:c:d))",
    {
      type: "unreadable",
      text: "(:new-features (:a :b:c:d))",
      problem:
        "A token has misplaced colons, no name after its colons, or an empty package name. (INVALID_SYMBOL at line 1, column 20)",
      id: undefined,
    },
  ],
];
