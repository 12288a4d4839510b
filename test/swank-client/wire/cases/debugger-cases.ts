import { keyword, list } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const DEBUGGER: readonly MessageCase[] = [
  [
    "debug: 2.27",
    '(:debug 10 1 ("boom 42" "   [Condition of type SIMPLE-ERROR]" nil) ' +
      '(("RETRY" "Retry SLIME evaluation request.") ("*ABORT" "Return to SLIME\'s top level.") ("NIL" "odd")) ' +
      '((0 "(F 42)" (:restartable t)) (1 "(EVAL (F 42))")) (9))',
    {
      type: "debug",
      thread: 10,
      level: 1,
      condition: { message: "boom 42", type: "SIMPLE-ERROR", extras: [] },
      restarts: [
        { name: "RETRY", description: "Retry SLIME evaluation request.", topLevel: false },
        { name: "ABORT", description: "Return to SLIME's top level.", topLevel: true },
        { name: "", description: "odd", topLevel: false },
      ],
      frames: [
        { index: 0, call: "(F 42)", restartable: true },
        { index: 1, call: "(EVAL (F 42))", restartable: false },
      ],
      continuations: [9],
    },
  ],
  [
    "debug: nested, with references, several requests, and a thread id of the operating system (2.30)",
    '(:debug 140234 2 ("The variable X is unbound." "   [Condition of type COMMON-LISP:UNBOUND-VARIABLE]" ' +
      '((:references ((:ansi-cl :function "x"))))) (("*special*" "mine")) nil (11 10))',
    {
      type: "debug",
      thread: 140234,
      level: 2,
      condition: {
        message: "The variable X is unbound.",
        type: "COMMON-LISP:UNBOUND-VARIABLE",
        extras: [list(keyword("references"), [[keyword("ansi-cl"), keyword("function"), "x"]])],
      },
      restarts: [{ name: "*special*", description: "mine", topLevel: false }],
      frames: [],
      continuations: [11, 10],
    },
  ],
  [
    "debug: a thread that Swank did not start",
    '(:debug 3 1 ("" "   [Condition of type (SATISFIES\n X)]" nil) (("*ABORT" "x")) ((0 "bogus stack frame")) nil)',
    {
      type: "debug",
      thread: 3,
      level: 1,
      condition: { message: "", type: "(SATISFIES\n X)", extras: [] },
      restarts: [{ name: "ABORT", description: "x", topLevel: true }],
      frames: [{ index: 0, call: "bogus stack frame", restartable: false }],
      continuations: [],
    },
  ],
  [
    "debug: a frame with properties that are not known",
    '(:debug 3 1 ("m" "T" nil) nil ((0 "(F)" (:restartable nil :new 1)) (1 "(G)" :odd)) (1))',
    {
      type: "debug",
      thread: 3,
      level: 1,
      condition: { message: "m", type: "T", extras: [] },
      restarts: [],
      frames: [
        { index: 0, call: "(F)", restartable: false },
        { index: 1, call: "(G)", restartable: false },
      ],
      continuations: [1],
    },
  ],
  ["debug-activate", "(:debug-activate 10 1 nil)", { type: "debug-activate", thread: 10, level: 1, select: false }],
  [
    "debug-activate: select",
    "(:debug-activate 10 2 t)",
    { type: "debug-activate", thread: 10, level: 2, select: true },
  ],
  [
    "debug-activate: without the last argument, which slime.el calls optional",
    "(:debug-activate 10 2)",
    { type: "debug-activate", thread: 10, level: 2, select: false },
  ],
  ["debug-return", "(:debug-return 10 1 nil)", { type: "debug-return", thread: 10, level: 1, stepping: false }],
  ["debug-return: by a step", "(:debug-return 10 1 t)", { type: "debug-return", thread: 10, level: 1, stepping: true }],
  [
    "debug-condition",
    '(:debug-condition 18 "Thread with id 99999 not found")',
    { type: "debug-condition", thread: 18, message: "Thread with id 99999 not found" },
  ],
];
