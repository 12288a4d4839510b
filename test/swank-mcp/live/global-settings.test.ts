import { access, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

/** What the user of an image may have set in it, for all threads. The readtable comes last, because the others are read with it. */
const SETTINGS = `(cl:setf cl:*read-base* 2 cl:*read-default-float-format* 'cl:double-float cl:*print-pretty* cl:t cl:*print-circle* cl:t
  cl:*print-readably* cl:t cl:*print-base* 3 cl:*print-radix* cl:t cl:*print-case* :capitalize cl:*print-length* 0 cl:*print-level* 0
  cl:*print-escape* cl:nil cl:*print-lines* 1 cl:*print-right-margin* 1 cl:*print-gensym* cl:nil cl:*read-eval* cl:nil
  sb-ext:*evaluator-mode* :interpret cl:*default-pathname-defaults* #p"no/such/folder/" cl:*gensym-counter* 1 cl:*load-verbose* cl:t
  cl:*load-print* cl:t cl:*compile-print* cl:t cl:*compile-verbose* cl:t cl:*macroexpand-hook* (cl:lambda (f x e) (cl:funcall f x e))
  cl:*break-on-signals* 'cl:warning cl:*features* '() cl:*package* (cl:make-package "odd package" :use '())
  cl:*random-state* (cl:make-random-state)
  cl:*readtable* (cl:let ((r (cl:copy-readtable cl:nil)))
                   (cl:setf (cl:readtable-case r) :preserve)
                   (cl:let ((old (cl:get-macro-character #\\( r)))
                     (cl:set-macro-character #\\( (cl:lambda (s c) (cl:list* (cl:funcall old s c))) cl:nil r))
                   r))`;

/** A call of each tool, and what its answer holds. The session's own syntax is standard. */
const CALLS: readonly (readonly [string, object, RegExp])[] = [
  ["evaluate-lisp", { code: '(list 15 "a" :b 1.5)' }, /^=> \(15 "a" :B 1\.5\)$/],
  ["evaluate-lisp", { code: '(defun gs-f (x) (if (> x 99) (error "big") (list x 12)))' }, /GS-F/],
  ["evaluate-lisp", { code: "(defclass gs-c () ((a :initform 10 :accessor gs-a)))" }, /GS-C/],
  ["describe-symbol", { name: "gs-f" }, /COMMON-LISP-USER::GS-F \[FUNCTION\]\n {2}Arglist: \(X\)/],
  ["show-source", { name: "gs-f" }, /\(defun gs-f \(x\)/],
  ["class-info", { name: "gs-c", arguments: [] }, /10/],
  ["find-references", { name: "gs-f", mode: "callees" }, /LIST|ERROR|No /],
  ["apropos-search", { pattern: "gs-" }, /GS-F/],
  ["compile-code", { code: "(defun gs-g () (gs-f 12))" }, /The code compiles/],
  ["macroexpand-form", { code: "(when 12 (print 'a))" }, /^\(if 12\n/],
  ["search-source", { pattern: "gs-nowhere" }, /gs-nowhere|[Nn]o /],
  ["list-definitions", {}, /GS-F/],
  ["list-changes", {}, /GS-F/i],
  ["save-changes", { "dry-run": true }, /GS-F/i],
  ["load-changes", {}, /Nothing to load|GS-F/i],
  ["load-system", { system: "sb-md5" }, /sb-md5/],
  ["run-tests", { name: "gs-no-test" }, /no system/],
  ["inspect-object", { object: "(list 12 13)" }, /\(12 13\)\nlist of 2/],
  ["breakpoint_set", { function: "gs-f", condition: "(= x 12)" }, /GS-F/],
  ["breakpoint_list", {}, /"condition":"\(= x 12\)"/],
  ["evaluate-lisp", { code: "(gs-f 12)" }, /Breakpoint \d+ on COMMON-LISP-USER::GS-F/],
  ["debugger_frames", {}, /GS-F 12/],
  ["debugger_frame_locals", { frame: 0 }, /"12"/],
  ["debugger_eval_in_frame", { frame: 0, code: "(list x 13)" }, /^=> \(12 13\)/],
  ["debugger_restarts", {}, /CONTINUE/],
  ["debugger_continue", {}, /\(12 12\)/],
  ["evaluate-lisp", { code: "(gs-f 12)" }, /Breakpoint \d+ on COMMON-LISP-USER::GS-F/],
  ["debugger_step", { mode: "over" }, /./],
  ["evaluate-lisp", { code: "(gs-f 100)" }, /big/],
  ["describe-last-error", {}, /big/],
  ["get-backtrace", {}, /GS-F 100/],
  ["debugger_invoke_restart", { restart: "ABORT" }, /./],
  ["trace-calls", { functions: ["gs-f"], code: "(gs-f 13)" }, /GS-F 13/],
  ["profile-code", { code: "(gs-f 13)" }, /samples/],
  ["profile-code", { code: "(gs-f 13)", mode: "calls", functions: ["gs-f"] }, /GS-F/],
  ["heap", { mode: "summary" }, /bytes|MB/],
  ["heap", { mode: "growth", code: "(list 12)" }, /12/],
  ["heap", { mode: "instances", type: "gs-c" }, /GS-C|No /],
  ["list-threads", { frames: 2 }, /thread/i],
  ["lisp-status", {}, /"package":"COMMON-LISP-USER"/],
  ["reset-session", {}, /Session reset/],
];

/** Gives the agent's session the standard syntax, in code that both syntaxes read. */
const STANDARD = `(CL:SETF CL:*READ-BASE* 10. CL:*READ-EVAL* CL:T CL:*READ-DEFAULT-FLOAT-FORMAT* 'CL:SINGLE-FLOAT CL:*PRINT-BASE* 10. CL:*PRINT-RADIX* CL:NIL
  CL:*PRINT-CASE* :UPCASE CL:*PRINT-LENGTH* CL:NIL CL:*PRINT-LEVEL* CL:NIL CL:*PRINT-LINES* CL:NIL CL:*PRINT-RIGHT-MARGIN* CL:NIL
  CL:*PRINT-READABLY* CL:NIL CL:*PRINT-ESCAPE* CL:T CL:*PRINT-GENSYM* CL:T CL:*PRINT-CIRCLE* CL:NIL
  CL:*MACROEXPAND-HOOK* 'CL:FUNCALL CL:*COMPILE-PRINT* CL:NIL CL:*LOAD-PRINT* CL:NIL CL:*READTABLE* (CL:COPY-READTABLE CL:NIL))`;

for (const early of [true, false]) {
  describe(`every tool in an image whose user has changed all settings ${early ? "before" : "after"} the library was loaded`, () => {
    let lisp: RealSwank;
    let server: McpStdio;

    before(async () => {
      lisp = await startRealSwank();
      if (early) await set();
      server = await McpStdio.start(["--attach", String(lisp.port), "--approval", "off"]);
      await server.evaluate("1");
      if (!early) await set();
      await server.evaluate(STANDARD);
    });
    after(async () => {
      await server.close();
      await lisp.stop();
    });

    /** Sets the settings, and waits until the image has them. */
    async function set(): Promise<void> {
      const file = join(await mkdtemp(join(tmpdir(), "settings-")), "set");
      lisp.type(
        `(cl:progn ${SETTINGS} (cl:with-standard-io-syntax (cl:close (cl:open "${file}" :direction :output))))`,
      );
      await waitForFile(file);
    }

    it("answers as in any other image", async () => {
      for (const [name, args, expected] of CALLS) {
        const text = blocks(await server.call(name, args)).join("\n");
        expect(text, `${name} ${JSON.stringify(args)}`).to.match(expected);
      }
    });
  });
}

async function waitForFile(file: string): Promise<void> {
  for (;;) {
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there) return;
    await setTimeout(50);
  }
}
