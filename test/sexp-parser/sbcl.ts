import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Syntax as on Swank's wire: standard, lower case, doubles by default, in a package that holds only `nil` and `t`. */
const SETUP = `
(defpackage :wire (:use) (:import-from :cl nil t))
(defpackage :empty (:use))
(defvar cl-user::*in* (sb-sys:make-fd-stream 0 :input t :buffering :full :external-format :utf-8))
(defvar cl-user::*out* (sb-sys:make-fd-stream 1 :output t :buffering :full :external-format :utf-8))
(defmacro cl-user::on-the-wire (&body body)
  \`(with-standard-io-syntax
     (let ((*package* (find-package :wire)) (*print-case* :downcase) (*print-readably* nil) (*print-pretty* nil)
           (*read-default-float-format* 'double-float))
       ,@body)))
`;

/**
 * Runs a program in SBCL and returns its standard output.
 *
 * The program can use UTF-8 streams in `*in*` and `*out*`, and the macro `on-the-wire`. Fails on a machine without SBCL.
 */
export async function runSbcl(program: string, input = ""): Promise<string> {
  const code = `(progn ${SETUP.trim()})`;
  const child = spawn(
    process.env["SBCL"] || "sbcl",
    ["--noinform", "--no-sysinit", "--no-userinit", "--disable-debugger", "--eval", code, "--eval", program, "--quit"],
    { stdio: ["pipe", "pipe", "inherit"], timeout: 30_000, killSignal: "SIGKILL" },
  );
  const failure = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.stdin.once("error", reject);
  });
  child.stdin.end(input);
  return await Promise.race([text(child.stdout), failure]);
}
