import { NIL } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const REPLIES: readonly MessageCase[] = [
  [
    "return: a value",
    '(:return (:ok ("4" "")) 12)',
    { type: "return", id: 12, reply: { status: "ok", value: ["4", ""] } },
  ],
  ["return: NIL", "(:return (:ok nil) 1)", { type: "return", id: 1, reply: { status: "ok", value: NIL } }],
  [
    "return: upper case, as other Lisps may print",
    "(:RETURN (:OK 3) 1)",
    { type: "return", id: 1, reply: { status: "ok", value: 3 } },
  ],
  [
    "return: aborted",
    '(:return (:abort "Division by zero") 13)',
    { type: "return", id: 13, reply: { status: "abort", condition: "Division by zero" } },
  ],
  [
    "return: aborted, as old releases say it",
    "(:return (:abort) 13)",
    { type: "return", id: 13, reply: { status: "abort", condition: "NIL" } },
  ],
  [
    "return: aborted without a condition",
    "(:return (:abort nil) 13)",
    { type: "return", id: 13, reply: { status: "abort", condition: "NIL" } },
  ],
  [
    "reader-error: of a request",
    '(:reader-error "(:emacs-rex (nosuch:foo) \\"CL-USER\\" t 7)" "Package NOSUCH does not exist.")',
    {
      type: "reader-error",
      packet: '(:emacs-rex (nosuch:foo) "CL-USER" t 7)',
      message: "Package NOSUCH does not exist.",
      carried: "request",
      id: 7,
    },
  ],
  [
    "reader-error: of a request with a newline at its end, as Emacs sends it",
    '(:reader-error "(:emacs-rex (a:b) nil 3 8)\n" "no")',
    { type: "reader-error", packet: "(:emacs-rex (a:b) nil 3 8)\n", message: "no", carried: "request", id: 8 },
  ],
  [
    "reader-error: of a reply that could not be written as UTF-8",
    '(:reader-error "(:return (:ok \\"\\\\xd800\\") 9)" "Error during string-to-utf8")',
    {
      type: "reader-error",
      packet: '(:return (:ok "\\xd800") 9)',
      message: "Error during string-to-utf8",
      carried: "reply",
      id: 9,
    },
  ],
  [
    "reader-error: of output that ends in a thread's number, which is no request",
    '(:reader-error "(:write-string \\"\\\\xd800\\" nil 5)" "Error during string-to-utf8")',
    {
      type: "reader-error",
      packet: '(:write-string "\\xd800" nil 5)',
      message: "Error during string-to-utf8",
      carried: undefined,
      id: undefined,
    },
  ],
  [
    "invalid-rpc",
    '(:invalid-rpc 14 "Thread not found: 99")',
    { type: "invalid-rpc", id: 14, message: "Thread not found: 99" },
  ],
];
