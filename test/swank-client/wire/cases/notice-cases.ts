import { NIL, read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const NOTICES: readonly MessageCase[] = [
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
