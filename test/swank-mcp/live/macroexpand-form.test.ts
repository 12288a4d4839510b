import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { markedText, refusalType } from "../../support/mcp-results.js";

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
  const server = liveServer({ code: MACROS });

  const expanded = async (args: object) => markedText(await server.call("macroexpand-form", args));

  it("expands one step, fully, or all macro calls inside, with numbered symbols", async () => {
    const code = "(step-one (car g2))";
    const shown = (mode: string) => expanded({ code, mode, package: "steps" });
    expect(await shown("once")).to.equal("(step-two (car g2) (lambda () (step-two 1 2)))");
    expect(await shown("full")).to.equal(
      "(let ((g3 (car g2)) (g4 (lambda () (step-two 1 2))) (value1 g1))\n  (list g3 g4 value1))",
    );
    expectFacts(await shown("all"), "(let ((g5 1) (g6 2) (value1 g1))", "(list g5 g6 value1)", "(list g3 g4 value2))");
  });

  it("expands several forms, backquotes and commas, and interns nothing", async () => {
    expectFacts(
      await expanded({
        code: '(when never-seen `(a ,never-seen ,@(b))) (unless x #(never-seen "s" 1.5))',
        package: "steps",
      }),
      '(if never-seen\n    `(a ,never-seen ,@(b)))\n\n(if x\n    nil\n    #(never-seen "s" 1.5))',
    );
    expect(await server.evaluate('(find-symbol "NEVER-SEEN" :steps)')).to.deep.equal(["=> NIL\n=> NIL"]);
  });

  it("says why there is nothing to expand, and names what is near", async () => {
    expectFacts(
      [
        await expanded({ code: "(car x)" }),
        await expanded({ code: "(if a b)", mode: "all" }),
        await expanded({ code: "(stepone 1)", package: "steps" }),
        await expanded({ code: "(step-one 1)" }),
        await expanded({ code: "42 x" }),
      ].join("\n\n"),
      "CAR is a function.",
      "IF is a special operator.",
      "STEPONE is not defined. Similar names: STEP-ONE",
      "STEP-ONE is not defined. Similar names: STEPS::STEP-ONE",
      "42\n\nx\n--\nNothing to expand: this is no macro call.",
    );
  });

  it("reports code that cannot be read and macros that fail", async () => {
    expectFacts(
      [
        await expanded({ code: "(when a" }),
        await expanded({ code: '(when #.(error "read"))' }),
        await expanded({ code: "(when nowhere:x 1)" }),
        await expanded({ code: "(failing 1)", package: "steps" }),
      ].join("\n\n"),
      "ERROR The code cannot be read: The code ends in the middle of a form.",
      "Can't read #. while *READ-EVAL* is NIL",
      "Package NOWHERE does not exist.",
      "ERROR A macro signalled SIMPLE-ERROR while it was expanded:\nNot 1.",
    );
    expect(refusalType(await server.call("macroexpand-form", { code: " ; nothing" }))).to.equal("EMPTY_CODE");
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
});
