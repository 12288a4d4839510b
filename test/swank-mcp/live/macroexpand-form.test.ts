import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const MACROS = `(defpackage :steps (:use :cl))
(in-package :steps)
(defvar *runs* 0)
(defmacro step-one (form) \`(step-two ,form (lambda () (step-two 1 2))))
(defmacro step-two (one other)
  (let ((a (gensym)) (b (gensym)) (value (gensym "VALUE")))
    \`(let ((,a ,one) (,b ,other) (,value g1)) (list ,a ,b ,value))))
(defmacro failing (x) (error "Not ~a." x))
(defmacro talking () (format t "noise") (warn "noise") (format *error-output* "noise") 1)
(defmacro asking () (break "asked") 1)
(defmacro endless () (loop))
(defmacro circular () (let ((form (list 'list 1))) (setf (cddr form) form) form))
(defmacro running () (incf *runs*))
(in-package :cl-user)`;

describe("macroexpand-form", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;

  before(async () => {
    server = await McpStdio.start();
    await server.evaluate(MACROS);
  });
  after(() => server.close());

  async function expanded(args: object): Promise<string> {
    const result = await server.call("macroexpand-form", args);
    return `${result.isError === true ? "ERROR " : ""}${blocks(result).join("\n--\n")}`;
  }

  it("expands one step, fully, or all macro calls inside, with numbered symbols", async () => {
    const code = "(step-one (car g2))";
    for (const mode of ["once", "full", "all"]) snapshots.match(mode, await expanded({ code, mode, package: "steps" }));
  });

  it("expands several forms, backquotes and commas, and interns nothing", async () => {
    snapshots.match(
      "several forms",
      await expanded({
        code: '(when never-seen `(a ,never-seen ,@(b))) (unless x #(never-seen "s" 1.5))',
        package: "steps",
      }),
    );
    expect(await server.evaluate('(find-symbol "NEVER-SEEN" :steps)')).to.deep.equal(["=> NIL\n=> NIL"]);
  });

  it("says why there is nothing to expand, and names what is near", async () => {
    snapshots.match(
      "nothing to expand",
      [
        await expanded({ code: "(car x)" }),
        await expanded({ code: "(if a b)", mode: "all" }),
        await expanded({ code: "(stepone 1)", package: "steps" }),
        await expanded({ code: "(step-one 1)" }),
        await expanded({ code: "42 x" }),
        await expanded({ code: "(car x)", package: "stpes" }),
      ].join("\n\n"),
    );
  });

  it("reports code that cannot be read and macros that fail", async () => {
    snapshots.match(
      "failures",
      [
        await expanded({ code: "(when a" }),
        await expanded({ code: '(when #.(error "read"))' }),
        await expanded({ code: "(when nowhere:x 1)" }),
        await expanded({ code: "(failing 1)", package: "steps" }),
      ].join("\n\n"),
    );
    const empty = await server.call("macroexpand-form", { code: " ; nothing" });
    expect(empty.structuredContent).to.have.nested.property("error.data.type", "EMPTY_CODE");
    const wrong = await server.call("macroexpand-form", { code: "(a)", mode: "twice" });
    expect(wrong.structuredContent).to.have.nested.property("error.data.type", "INVALID_ARGUMENTS");
  });

  it("runs macros without their output, and evaluates no code", async () => {
    expect(await expanded({ code: "(talking)", package: "steps" })).to.equal("1");
    expect(await expanded({ code: "(when 1 (running))", package: "steps" })).to.equal("(if 1\n    (running))");
    expect(await server.evaluate("steps::*runs*")).to.deep.equal(["=> 0"]);
  });

  it("prints circular expansions up to a limit", async () => {
    expect(await expanded({ code: "(circular)", package: "steps" })).to.match(/^\(list 1 list 1 /);
  });

  it("leaves no thread stopped when a macro breaks", async () => {
    expect(await expanded({ code: "(asking)", package: "steps" })).to.match(/^ERROR /);
    expect(JSON.stringify(await server.call("lisp-status"))).to.not.include("asked");
  });

  snapshots.testCompleteness();
});
