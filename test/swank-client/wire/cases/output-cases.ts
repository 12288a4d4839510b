import { keyword, NIL, read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const OUTPUT: readonly MessageCase[] = [
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
