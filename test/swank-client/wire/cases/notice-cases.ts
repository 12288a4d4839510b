import { NIL, read } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const NOTICES: readonly MessageCase[] = [
  ["new-package", '(:new-package "COMMON-LISP" "CL")', { type: "new-package", name: "COMMON-LISP", prompt: "CL" }],
  [
    "new-features",
    '(:new-features (:swank :|odd| common-lisp-user::mine "text" 7))',
    { type: "new-features", features: ["SWANK", "odd", "MINE", "text", "7"] },
  ],
  [
    "indentation-update",
    '(:indentation-update (("with-x" 1 ("SWANK" "CL-USER")) ("gone" nil ("SWANK")) ("like-if" (4 2 &rest 2) nil)))',
    {
      type: "indentation-update",
      rules: [
        { name: "with-x", indentation: 1, packages: ["SWANK", "CL-USER"] },
        { name: "gone", indentation: NIL, packages: ["SWANK"] },
        { name: "like-if", indentation: read("(4 2 &rest 2)"), packages: [] },
      ],
    },
  ],
  ["background-message", '(:background-message "tid 5")', { type: "background-message", text: "tid 5" }],
  ["ed: nothing", "(:ed nil)", { type: "ed", target: { kind: "nothing" } }],
  [
    "ed: a file",
    '(:ed (:filename "/tmp/a.lisp"))',
    {
      type: "ed",
      target: { kind: "file", path: "/tmp/a.lisp", line: undefined, column: undefined, position: undefined },
    },
  ],
  [
    "ed: a place in a file",
    '(:ed (:filename "/tmp/a.lisp" :line 3 :column 4 :position 50))',
    { type: "ed", target: { kind: "file", path: "/tmp/a.lisp", line: 3, column: 4, position: 50 } },
  ],
  ["ed: a function", '(:ed (:function-name "CAR"))', { type: "ed", target: { kind: "function", name: "CAR" } }],
  ["test-delay", "(:test-delay 0.03)", { type: "test-delay", seconds: 0.03 }],
  ["emacs-skipped-packet", "(:emacs-skipped-packet (:x 1))", { type: "emacs-skipped-packet", packet: read("(:x 1)") }],
];
