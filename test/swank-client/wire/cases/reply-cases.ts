import { NIL } from "sexp-parser";
import type { MessageCase } from "./message-case.js";

export const REPLIES: readonly MessageCase[] = [
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
