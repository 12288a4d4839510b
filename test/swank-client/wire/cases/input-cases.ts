import { read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const INPUT: readonly MessageCase[] = [
  ["read-string", "(:read-string 5 77)", { type: "read-string", thread: 5, tag: 77 }],
  ["read-aborted", "(:read-aborted 5 77)", { type: "read-aborted", thread: 5, tag: 77 }],
  ["y-or-n-p", '(:y-or-n-p 5 78 "Really? ")', { type: "y-or-n-p", thread: 5, tag: 78, question: "Really? " }],
  [
    "read-from-minibuffer",
    '(:read-from-minibuffer 5 79 "Name: " nil)',
    { type: "read-from-minibuffer", thread: 5, tag: 79, prompt: "Name: ", initial: undefined },
  ],
  [
    "read-from-minibuffer: with an initial value",
    '(:read-from-minibuffer 5 79 "Name: " "x")',
    { type: "read-from-minibuffer", thread: 5, tag: 79, prompt: "Name: ", initial: "x" },
  ],
  [
    "eval",
    '(:eval 5 80 "(message . (\\"hi\\" . nil))")',
    { type: "eval", thread: 5, tag: 80, form: '(message . ("hi" . nil))' },
  ],
  ["eval-no-wait", '(:eval-no-wait "(beep)")', { type: "eval-no-wait", form: "(beep)" }],
  [
    "ed-rpc: from 2.24",
    '(:ed-rpc 5 81 "my-fn" 1 (2 "x"))',
    { type: "ed-rpc", thread: 5, tag: 81, functionName: "my-fn", args: [1, [2, "x"]] },
  ],
  [
    "ed-rpc-no-wait: from 2.24",
    '(:ed-rpc-no-wait "my-fn")',
    { type: "ed-rpc-no-wait", functionName: "my-fn", args: [] },
  ],
  ["ping", "(:ping 5 82)", { type: "ping", thread: 5, tag: 82 }],
  [
    "inspect: without somebody who waits",
    '(:inspect (:title "x" :id 0 :content (("a") 1 0 500)) nil nil)',
    { type: "inspect", content: read('(:title "x" :id 0 :content (("a") 1 0 500))'), waiting: undefined },
  ],
  [
    "inspect: with a thread that waits",
    '(:inspect (:title "x") 5 83)',
    { type: "inspect", content: read('(:title "x")'), waiting: { thread: 5, tag: 83 } },
  ],
  [
    "inspect: of old releases",
    '(:inspect (:title "x"))',
    { type: "inspect", content: read('(:title "x")'), waiting: undefined },
  ],
];
