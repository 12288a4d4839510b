import { read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const INPUT: readonly MessageCase[] = [
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
