import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import { attachedTo, liveDebugger, liveSwank } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

/** Maximum size of an answer about lists of any length, in characters. */
const MOST = 100_000;

function size(result: CallToolResult): number {
  return JSON.stringify(result).length;
}

describe("the size of answers", function () {
  this.timeout(180_000);
  const lisp = liveDebugger();

  async function small(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    const result = await lisp.call(name, args);
    expect(size(result), `${name} ${blocks(result).join("\n").slice(0, 300)}`).to.be.lessThan(MOST);
    return result;
  }

  it("stays small with thousands of definitions, of all types or one, and the omitted ones are counted", async () => {
    await small("evaluate-lisp", {
      code: `(dotimes (i 600)
               (let ((name (intern (format nil "DEFINED-~a-~d" (make-string 200 :initial-element #\\X) i))))
                 (eval \`(defun ,name () ,i)) (eval \`(defvar ,name ,i))))
             (dolist (type '("A" "B" "C")) (eval \`(defclass ,(intern type) () ())))`,
      timeout: 120,
    });
    for (const args of [{}, { type: "function" }, { type: "variable" }]) {
      const result = await small("list-definitions", args);
      const [text = ""] = blocks(result);
      expect(text).to.match(/\.\.\. \d+ more (functions|variables)/);
      const data = z
        .object({
          definitions: z.array(z.unknown()),
          definitions_left_out: z.number().default(0),
        })
        .parse(result._meta?.["swank-mcp/definitions"]);
      const { definitions, definitions_left_out: cut } = data;
      expect(definitions.length + cut).to.equal("type" in args ? 600 : 1203);
    }
    const [text = ""] = blocks(await small("list-definitions"));
    expect(text).to.match(/\[classes\]\nCOMMON-LISP-USER::A\n/);
  });

  it("stays small with thousands of restarts, all of which can be invoked", async () => {
    const code = `(labels ((nest (n) (if (zerop n) (error "deep") (restart-case (nest (1- n)) (out (v) :report (lambda (s) (format s "Leave ~d." n)) (list n v))))))
                    (nest 1500))`;
    const stop = stopName(blocks(await small("evaluate-lisp", { code })));
    const { restarts, restarts_left_out: left } = z
      .object({
        restarts: z.array(z.object({ index: z.number(), name: z.string() })),
        restarts_left_out: z.number(),
      })
      .parse((await small("debugger_restarts")).structuredContent);
    expect(restarts.length + left).to.equal(1502);
    expect(restarts.at(-1)).to.include({ index: 1502, name: "RETRY" });
    const [described = ""] = blocks(await small("describe-last-error"));
    expect(described)
      .to.match(/ {2}\.\.\. \d+ more restarts\n/)
      .and.include("  1502. ");
    const refused = await small("debugger_invoke_restart", { restart: "NO-SUCH" });
    expect(blocks(refused)[0]).to.include("Choose one of: 1-1500 OUT, 1501 ABORT, 1502 RETRY. ");
    const resumed = await lisp.resume("debugger_invoke_restart", { restart: 700, values: ["7"], thread: stop });
    expect(resumed).to.deep.equal(["=> (700 7)"]);
  });

  it("stays small with hundreds of variables and catch tags in a frame", async () => {
    const names = Array.from({ length: 150 }, (_, n) => `v${n}`);
    const tags = names.reduce((form, name) => `(catch '${name} ${form})`, "(car 1)");
    const code = `(defun crowded (x) (let (${names.map((name) => `(${name} x)`).join(" ")}) (values ${tags} ${names.join(" ")})))`;
    await lisp.evaluate(code);
    const [, live] = await lisp.evaluate("(crowded 1)");
    expect(live).to.match(/\n {2}\.\.\. more locals: debugger_frame_locals$/);
    const frame = await lisp.frame("(CROWDED ");
    expect(frame.locals_left_out).to.equal(151 - frame.locals.length);
    const found = await small("debugger_frame_locals", { frame: frame.index });
    const { locals, locals_left_out, catch_tags, catch_tags_left_out } = z
      .object({
        locals: z.array(z.unknown()),
        locals_left_out: z.number(),
        catch_tags: z.array(z.unknown()),
        catch_tags_left_out: z.number(),
      })
      .parse(found.structuredContent);
    expect(locals.length + locals_left_out).to.equal(151);
    expect(catch_tags.length + catch_tags_left_out).to.equal(150);
  });

  it("stays small with hundreds of breakpoints with long conditions", async () => {
    await lisp.evaluate("(defun watched (x) x)");
    const condition = `(member (car args) '(${"a ".repeat(500)}))`;
    const set = Array.from({ length: 130 }, () => lisp.call("breakpoint_set", { function: "watched", condition }));
    await Promise.all(set);
    const { structuredContent } = await small("breakpoint_list");
    expect(structuredContent?.["breakpoints"]).to.have.lengthOf(100);
    expect(structuredContent).to.include({ breakpoints_left_out: 30 });
    await lisp.call("reset-session");
  });

  it("stays small with classes that have thousands of slots and superclasses, and long names", async () => {
    await lisp.evaluate(`(eval \`(defclass many-slots () ,(loop for i below 400 collect (intern (format nil "SLOT-~d" i)))))
      (let ((supers (loop for i below 80 collect (let ((name (intern (format nil "SUPER-~d" i)))) (eval \`(defclass ,name () ())) name))))
        (eval \`(defclass many-supers ,supers ())))
      (let ((name (intern (make-string 200000 :initial-element #\\N)))) (eval \`(defvar ,name 1)))`);
    for (const [name, left] of [
      ["many-slots", /Slots: SLOT-0, .*, \.\.\. 350 more names$/m],
      ["many-supers", /Superclasses: SUPER-0, .*, \.\.\. 30 more names$/m],
    ] as const)
      expect(blocks(await small("describe-symbol", { name }))[0]).to.match(left);
    await small("describe-symbol", { name: "N".repeat(200_000) });
    await small("describe-symbol", { name: "M".repeat(200_000), package: "P".repeat(200_000) });
  });

  it("stays small with names of conditions and restarts of hundreds of thousands of characters", async () => {
    const name = "L".repeat(300_000);
    await small("evaluate-lisp", {
      code: `(eval \`(define-condition ,(intern "${name}") (error) ()))
             (restart-case (error (intern "${name}")) (${name} () 1))`,
    });
    for (const tool of ["describe-last-error", "get-backtrace", "debugger_restarts", "lisp-status"]) await small(tool);
    await small("debugger_invoke_restart", { restart: `x${name}` });
    await small("debugger_frames", { thread: name });
    await small("breakpoint_set", { function: `f${name}` });
  });

  it("stays small after a call with thousands of unknown arguments", async () => {
    const args = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`unknown-${n}`, n]));
    const [text] = blocks(await small("lisp-status", args));
    expect(text).to.include("... 4995 more problems");
  });

  it("stays small with frames that run long forms", async () => {
    const form = `(list ${"(identity 1) ".repeat(150)} (car x))`;
    await lisp.evaluate(`(defun runs (n x) (if (zerop n) ${form} (list ${"1 ".repeat(900)} (runs (1- n) x))))`);
    await lisp.evaluate("(runs 90 3)");
    await small("debugger_frames", { start: 0, end: 100 });
  });

  it("stays small with hundreds of failed threads", async () => {
    await lisp.evaluate(
      '(dotimes (i 300) (sb-thread:make-thread (lambda () (error "~a" (make-string 500 :initial-element #\\e)))))',
    );
    let notices = "";
    for (let waited = 0; waited < 300 && !/\d+ more stopped threads before these/.test(notices); waited += 1) {
      const answer = await small("evaluate-lisp", { code: "(sleep 0.1)" });
      const [, told = ""] = blocks(answer);
      if (told !== "") notices = told;
      await small("lisp-status");
    }
    expect(notices).to.match(/\.\.\. \d+ more stopped threads before these:\nThread \d+/);
    expect(notices).to.match(/\.\.\. \d+ more ended stops before these:\nThe stop \d+/);
  });
});

describe("any number of foreign stops", function () {
  this.timeout(180_000);
  const image = liveSwank();
  const agent = liveDebugger({ args: attachedTo(image) });

  it("are counted, and the first twenty are listed", async () => {
    await agent.evaluate("1");
    image.type('(dotimes (i 100) (sb-thread:make-thread (lambda () (error "theirs"))))');
    let status: Record<string, unknown> = {};
    while (status["stopped_left_out"] !== 80) status = await agent.json("lisp-status");
    expect(status["stopped"]).to.have.lengthOf(20);
    expect(JSON.stringify(status).length).to.be.lessThan(10_000);
    const refused = await agent.refusal("debugger_frames", { thread: 999_999 });
    expect(refused.next).to.match(/\.\.\. 90 more stops, /);
    expect(refused.next.length).to.be.lessThan(1000);
  });
});
