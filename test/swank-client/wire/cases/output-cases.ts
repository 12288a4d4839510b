import { keyword, NIL, read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const OUTPUT: readonly MessageCase[] = [
  [
    "write-string: up to 2.27",
    '(:write-string "a \\"b\\" \\\\n\nc")',
    { type: "write-string", text: 'a "b" \\n\nc', target: NIL, thread: undefined },
  ],
  [
    "write-string: with a target",
    '(:write-string "3" :repl-result)',
    { type: "write-string", text: "3", target: keyword("repl-result"), thread: undefined },
  ],
  [
    "write-string: with a target of an application's own",
    '(:write-string "x" (17 1))',
    { type: "write-string", text: "x", target: [17, 1], thread: undefined },
  ],
  [
    "write-string: from 2.28, with the thread that waits",
    '(:write-string "x" nil 8123)',
    { type: "write-string", text: "x", target: NIL, thread: 8123 },
  ],
  [
    "write-string: from 2.28, with a thread that does not wait",
    '(:write-string "x" nil nil)',
    { type: "write-string", text: "x", target: NIL, thread: undefined },
  ],
  [
    "presentation-start",
    "(:presentation-start 4 :repl-result)",
    { type: "presentation-start", id: 4, target: keyword("repl-result") },
  ],
  ["presentation-end: without a target", "(:presentation-end 4)", { type: "presentation-end", id: 4, target: NIL }],
  ["new-repl-output: from 2.32", "(:new-repl-output)", { type: "new-repl-output" }],
  [
    "channel-send",
    '(:channel-send 7 (:write-string "\n1 "))',
    { type: "channel-send", channel: 7, method: "write-string", args: ["\n1 "] },
  ],
  [
    "channel-send: without arguments",
    "(:channel-send 7 (:evaluation-aborted))",
    { type: "channel-send", channel: 7, method: "evaluation-aborted", args: [] },
  ],
  [
    "write-image",
    '(:write-image ((:type :png :file "/tmp/x.png")) "[image]")',
    { type: "write-image", image: read('((:type :png :file "/tmp/x.png"))'), text: "[image]" },
  ],
  [
    "popup-buffer",
    '(:popup-buffer "doc" "text" text-mode)',
    { type: "popup-buffer", name: "doc", text: "text", mode: read("text-mode") },
  ],
  [
    "open-dedicated-output-stream: up to 2.30",
    '(:open-dedicated-output-stream 40123 "utf-8-unix")',
    { type: "open-dedicated-output-stream", port: 40123, coding: "utf-8-unix" },
  ],
];
