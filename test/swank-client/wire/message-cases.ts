import { keyword, list, NIL, read, type Sexp } from "sexp-parser";
import type { SwankMessage } from "swank-client";

/** A message as a server writes it, and what it means. */
export interface MessageCase {
  readonly title: string;
  readonly text: string;
  readonly message: SwankMessage;
}

const REPLIES: readonly MessageCase[] = [
  {
    title: "return: a value",
    text: '(:return (:ok ("4" "")) 12)',
    message: { type: "return", id: 12, reply: { status: "ok", value: ["4", ""] } },
  },
  {
    title: "return: NIL",
    text: "(:return (:ok nil) 1)",
    message: { type: "return", id: 1, reply: { status: "ok", value: NIL } },
  },
  {
    title: "return: upper case, as other Lisps may print",
    text: "(:RETURN (:OK 3) 1)",
    message: { type: "return", id: 1, reply: { status: "ok", value: 3 } },
  },
  {
    title: "return: aborted",
    text: '(:return (:abort "Division by zero") 13)',
    message: { type: "return", id: 13, reply: { status: "abort", condition: "Division by zero" } },
  },
  {
    title: "return: aborted, as old releases say it",
    text: "(:return (:abort) 13)",
    message: { type: "return", id: 13, reply: { status: "abort", condition: "NIL" } },
  },
  {
    title: "return: aborted without a condition",
    text: "(:return (:abort nil) 13)",
    message: { type: "return", id: 13, reply: { status: "abort", condition: "NIL" } },
  },
  {
    title: "reader-error: of a request",
    text: '(:reader-error "(:emacs-rex (nosuch:foo) \\"CL-USER\\" t 7)" "Package NOSUCH does not exist.")',
    message: {
      type: "reader-error",
      packet: '(:emacs-rex (nosuch:foo) "CL-USER" t 7)',
      message: "Package NOSUCH does not exist.",
      carried: "request",
      id: 7,
    },
  },
  {
    title: "reader-error: of a request with a newline at its end, as Emacs sends it",
    text: '(:reader-error "(:emacs-rex (a:b) nil 3 8)\n" "no")',
    message: { type: "reader-error", packet: "(:emacs-rex (a:b) nil 3 8)\n", message: "no", carried: "request", id: 8 },
  },
  {
    title: "reader-error: of a reply that could not be written as UTF-8",
    text: '(:reader-error "(:return (:ok \\"\\\\xd800\\") 9)" "Error during string-to-utf8")',
    message: {
      type: "reader-error",
      packet: '(:return (:ok "\\xd800") 9)',
      message: "Error during string-to-utf8",
      carried: "reply",
      id: 9,
    },
  },
  {
    title: "reader-error: of output that ends in a thread's number, which is no request",
    text: '(:reader-error "(:write-string \\"\\\\xd800\\" nil 5)" "Error during string-to-utf8")',
    message: {
      type: "reader-error",
      packet: '(:write-string "\\xd800" nil 5)',
      message: "Error during string-to-utf8",
      carried: undefined,
      id: undefined,
    },
  },
  {
    title: "invalid-rpc",
    text: '(:invalid-rpc 14 "Thread not found: 99")',
    message: { type: "invalid-rpc", id: 14, message: "Thread not found: 99" },
  },
];

const DEBUGGER: readonly MessageCase[] = [
  {
    title: "debug: 2.27",
    text:
      '(:debug 10 1 ("boom 42" "   [Condition of type SIMPLE-ERROR]" nil) ' +
      '(("RETRY" "Retry SLIME evaluation request.") ("*ABORT" "Return to SLIME\'s top level.") ("NIL" "odd")) ' +
      '((0 "(F 42)" (:restartable t)) (1 "(EVAL (F 42))")) (9))',
    message: {
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
  },
  {
    title: "debug: nested, with references, several requests, and a thread id of the operating system (2.30)",
    text:
      '(:debug 140234 2 ("The variable X is unbound." "   [Condition of type COMMON-LISP:UNBOUND-VARIABLE]" ' +
      '((:references ((:ansi-cl :function "x"))))) (("*special*" "mine")) nil (11 10))',
    message: {
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
  },
  {
    title: "debug: a thread that Swank did not start",
    text: '(:debug 3 1 ("" "   [Condition of type (SATISFIES\n X)]" nil) (("*ABORT" "x")) ((0 "bogus stack frame")) nil)',
    message: {
      type: "debug",
      thread: 3,
      level: 1,
      condition: { message: "", type: "(SATISFIES\n X)", extras: [] },
      restarts: [{ name: "ABORT", description: "x", topLevel: true }],
      frames: [{ index: 0, call: "bogus stack frame", restartable: false }],
      continuations: [],
    },
  },
  {
    title: "debug: a frame with properties that are not known",
    text: '(:debug 3 1 ("m" "T" nil) nil ((0 "(F)" (:restartable nil :new 1)) (1 "(G)" :odd)) (1))',
    message: {
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
  },
  {
    title: "debug-activate",
    text: "(:debug-activate 10 1 nil)",
    message: { type: "debug-activate", thread: 10, level: 1, select: false },
  },
  {
    title: "debug-activate: select",
    text: "(:debug-activate 10 2 t)",
    message: { type: "debug-activate", thread: 10, level: 2, select: true },
  },
  {
    title: "debug-activate: without the last argument, which slime.el calls optional",
    text: "(:debug-activate 10 2)",
    message: { type: "debug-activate", thread: 10, level: 2, select: false },
  },
  {
    title: "debug-return",
    text: "(:debug-return 10 1 nil)",
    message: { type: "debug-return", thread: 10, level: 1, stepping: false },
  },
  {
    title: "debug-return: by a step",
    text: "(:debug-return 10 1 t)",
    message: { type: "debug-return", thread: 10, level: 1, stepping: true },
  },
  {
    title: "debug-condition",
    text: '(:debug-condition 18 "Thread with id 99999 not found")',
    message: { type: "debug-condition", thread: 18, message: "Thread with id 99999 not found" },
  },
];

const OUTPUT: readonly MessageCase[] = [
  {
    title: "write-string: up to 2.27",
    text: '(:write-string "a \\"b\\" \\\\n\nc")',
    message: { type: "write-string", text: 'a "b" \\n\nc', target: NIL, thread: undefined },
  },
  {
    title: "write-string: with a target",
    text: '(:write-string "3" :repl-result)',
    message: { type: "write-string", text: "3", target: keyword("repl-result"), thread: undefined },
  },
  {
    title: "write-string: with a target of an application's own",
    text: '(:write-string "x" (17 1))',
    message: { type: "write-string", text: "x", target: [17, 1], thread: undefined },
  },
  {
    title: "write-string: from 2.28, with the thread that waits",
    text: '(:write-string "x" nil 8123)',
    message: { type: "write-string", text: "x", target: NIL, thread: 8123 },
  },
  {
    title: "write-string: from 2.28, with a thread that does not wait",
    text: '(:write-string "x" nil nil)',
    message: { type: "write-string", text: "x", target: NIL, thread: undefined },
  },
  {
    title: "presentation-start",
    text: "(:presentation-start 4 :repl-result)",
    message: { type: "presentation-start", id: 4, target: keyword("repl-result") },
  },
  {
    title: "presentation-end: without a target",
    text: "(:presentation-end 4)",
    message: { type: "presentation-end", id: 4, target: NIL },
  },
  { title: "new-repl-output: from 2.32", text: "(:new-repl-output)", message: { type: "new-repl-output" } },
  {
    title: "channel-send",
    text: '(:channel-send 7 (:write-string "\n1 "))',
    message: { type: "channel-send", channel: 7, method: "write-string", args: ["\n1 "] },
  },
  {
    title: "channel-send: without arguments",
    text: "(:channel-send 7 (:evaluation-aborted))",
    message: { type: "channel-send", channel: 7, method: "evaluation-aborted", args: [] },
  },
  {
    title: "write-image",
    text: '(:write-image ((:type :png :file "/tmp/x.png")) "[image]")',
    message: { type: "write-image", image: read('((:type :png :file "/tmp/x.png"))'), text: "[image]" },
  },
  {
    title: "popup-buffer",
    text: '(:popup-buffer "doc" "text" text-mode)',
    message: { type: "popup-buffer", name: "doc", text: "text", mode: read("text-mode") },
  },
  {
    title: "open-dedicated-output-stream: up to 2.30",
    text: '(:open-dedicated-output-stream 40123 "utf-8-unix")',
    message: { type: "open-dedicated-output-stream", port: 40123, coding: "utf-8-unix" },
  },
];

const INPUT: readonly MessageCase[] = [
  { title: "read-string", text: "(:read-string 5 77)", message: { type: "read-string", thread: 5, tag: 77 } },
  { title: "read-aborted", text: "(:read-aborted 5 77)", message: { type: "read-aborted", thread: 5, tag: 77 } },
  {
    title: "y-or-n-p",
    text: '(:y-or-n-p 5 78 "Really? ")',
    message: { type: "y-or-n-p", thread: 5, tag: 78, question: "Really? " },
  },
  {
    title: "read-from-minibuffer",
    text: '(:read-from-minibuffer 5 79 "Name: " nil)',
    message: { type: "read-from-minibuffer", thread: 5, tag: 79, prompt: "Name: ", initial: undefined },
  },
  {
    title: "read-from-minibuffer: with an initial value",
    text: '(:read-from-minibuffer 5 79 "Name: " "x")',
    message: { type: "read-from-minibuffer", thread: 5, tag: 79, prompt: "Name: ", initial: "x" },
  },
  {
    title: "eval",
    text: '(:eval 5 80 "(message . (\\"hi\\" . nil))")',
    message: { type: "eval", thread: 5, tag: 80, form: '(message . ("hi" . nil))' },
  },
  { title: "eval-no-wait", text: '(:eval-no-wait "(beep)")', message: { type: "eval-no-wait", form: "(beep)" } },
  {
    title: "ed-rpc: from 2.24",
    text: '(:ed-rpc 5 81 "my-fn" 1 (2 "x"))',
    message: { type: "ed-rpc", thread: 5, tag: 81, functionName: "my-fn", args: [1, [2, "x"]] },
  },
  {
    title: "ed-rpc-no-wait: from 2.24",
    text: '(:ed-rpc-no-wait "my-fn")',
    message: { type: "ed-rpc-no-wait", functionName: "my-fn", args: [] },
  },
  { title: "ping", text: "(:ping 5 82)", message: { type: "ping", thread: 5, tag: 82 } },
  {
    title: "inspect: without somebody who waits",
    text: '(:inspect (:title "x" :id 0 :content (("a") 1 0 500)) nil nil)',
    message: { type: "inspect", content: read('(:title "x" :id 0 :content (("a") 1 0 500))'), waiting: undefined },
  },
  {
    title: "inspect: with a thread that waits",
    text: '(:inspect (:title "x") 5 83)',
    message: { type: "inspect", content: read('(:title "x")'), waiting: { thread: 5, tag: 83 } },
  },
  {
    title: "inspect: of old releases",
    text: '(:inspect (:title "x"))',
    message: { type: "inspect", content: read('(:title "x")'), waiting: undefined },
  },
];

const NOTICES: readonly MessageCase[] = [
  {
    title: "new-package",
    text: '(:new-package "COMMON-LISP" "CL")',
    message: { type: "new-package", name: "COMMON-LISP", prompt: "CL" },
  },
  {
    title: "new-features",
    text: '(:new-features (:swank :|odd| common-lisp-user::mine "text" 7))',
    message: { type: "new-features", features: ["SWANK", "odd", "MINE", "text", "7"] },
  },
  {
    title: "indentation-update",
    text: '(:indentation-update (("with-x" 1 ("SWANK" "CL-USER")) ("gone" nil ("SWANK")) ("like-if" (4 2 &rest 2) nil)))',
    message: {
      type: "indentation-update",
      rules: [
        { name: "with-x", indentation: 1, packages: ["SWANK", "CL-USER"] },
        { name: "gone", indentation: NIL, packages: ["SWANK"] },
        { name: "like-if", indentation: read("(4 2 &rest 2)"), packages: [] },
      ],
    },
  },
  {
    title: "background-message",
    text: '(:background-message "tid 5")',
    message: { type: "background-message", text: "tid 5" },
  },
  { title: "ed: nothing", text: "(:ed nil)", message: { type: "ed", target: { kind: "nothing" } } },
  {
    title: "ed: a file",
    text: '(:ed (:filename "/tmp/a.lisp"))',
    message: {
      type: "ed",
      target: { kind: "file", path: "/tmp/a.lisp", line: undefined, column: undefined, position: undefined },
    },
  },
  {
    title: "ed: a place in a file",
    text: '(:ed (:filename "/tmp/a.lisp" :line 3 :column 4 :position 50))',
    message: { type: "ed", target: { kind: "file", path: "/tmp/a.lisp", line: 3, column: 4, position: 50 } },
  },
  {
    title: "ed: a function",
    text: '(:ed (:function-name "CAR"))',
    message: { type: "ed", target: { kind: "function", name: "CAR" } },
  },
  { title: "test-delay", text: "(:test-delay 0.03)", message: { type: "test-delay", seconds: 0.03 } },
  {
    title: "emacs-skipped-packet",
    text: "(:emacs-skipped-packet (:x 1))",
    message: { type: "emacs-skipped-packet", packet: read("(:x 1)") },
  },
];

function unknown(name: string, text: string): MessageCase {
  return { title: `unknown: ${text}`, text, message: { type: "unknown", name, datum: read(text) } };
}

function malformed(text: string, name: string, problem: string, id?: number): MessageCase {
  const datum: Sexp = read(text);
  return { title: `malformed: ${text}`, text, message: { type: "malformed", name, problem, datum, id } };
}

const ODD: readonly MessageCase[] = [
  unknown("brand-new", '(:brand-new 1 "two" (three))'),
  unknown("brand-new", "(:brand-new)"),
  unknown("ping", "(:ping . 3)"),
  malformed("(:ping 3)", "ping", "ping.tag: expected an element that is missing, found (3)"),
  malformed('(:debug "x" 1)', "debug", 'debug.thread: expected an integer below 2^53, found "x"'),
  malformed("(:write-string nil)", "write-string", "write-string.text: expected a string, found nil"),
  malformed(
    "(:return (:maybe 1) 6)",
    "return",
    "return.reply: expected a list that begins with :ok or :abort, found (:maybe 1)",
    6,
  ),
  malformed("(:return 6)", "return", "return.reply: expected a list that begins with :ok or :abort, found 6"),
  malformed(
    "(:invalid-rpc 6)",
    "invalid-rpc",
    "invalid-rpc.message: expected an element that is missing, found (6)",
    6,
  ),
  {
    title: "unreadable: a reply",
    text: '(:return (:ok #<foo "unclosed) 21)',
    message: {
      type: "unreadable",
      text: '(:return (:ok #<foo "unclosed) 21)',
      problem: "The text ends inside #<...>; the position is that of the #. (UNCLOSED_UNREADABLE at line 1, column 15)",
      id: 21,
    },
  },
  {
    title: "unreadable: an event",
    text: "(:new-features (:a :b:c:d))",
    message: {
      type: "unreadable",
      text: "(:new-features (:a :b:c:d))",
      problem:
        "A token has misplaced package markers, or no name after one, or an empty package name. (INVALID_SYMBOL at line 1, column 20)",
      id: undefined,
    },
  },
];

/** Every event of the protocol in every shape that versions 2.24 to 2.32 give it, and what does not fit. */
export const MESSAGE_CASES: readonly MessageCase[] = [...REPLIES, ...DEBUGGER, ...OUTPUT, ...INPUT, ...NOTICES, ...ODD];
