import { expect } from "chai";
import { liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** A package with a readtable of its own, as `named-readtables:in-readtable` registers it for Swank's clients, and one with local nicknames. */
const PROGRAM = `(defpackage :rt-app (:use :cl))
(defpackage :rt-home (:use :cl) (:export #:thing #:f))
(defpackage :rt-nick (:use :cl) (:local-nicknames (:u :rt-home)))
(setf swank:*readtable-alist*
      (list (cons "RT-APP"
                  (let ((readtable (copy-readtable nil)))
                    (setf (readtable-case readtable) CASE)
                    (set-macro-character #\\] (get-macro-character #\\)) nil readtable)
                    (set-macro-character #\\[ (lambda (stream char)
                                              (declare (ignore char))
                                              (cons 'list (read-delimited-list #\\] stream t)))
                                         nil readtable)
                    readtable))))
(defclass rt-home::thing () ((a :initform 1 :accessor rt-home::a)))
(defmacro rt-home::m (x) \`(list ,x))
(defun rt-home::f (x) x)`;

/** Definitions in that package, in code for a readtable that keeps the case of names. */
const DEFINITIONS = `(DEFUN CamelCase (TheArg) (RESTART-CASE (IF (> TheArg 3) (ERROR "big") TheArg) (UseThat (v) v)))
(DEFUN Caller (x) (CamelCase x))
(DEFMACRO MyMac (x) [(QUOTE LIST) x])
(DEFCLASS MyClass () ((SlotOne :INITFORM 1)))
(DEFGENERIC (SETF MyPlace) (v o))
(DEFMETHOD (SETF MyPlace) (v (o MyClass)) v)
(DEFGENERIC MyGeneric (o))
(DEFMETHOD MyGeneric ((o MyClass)) 1)`;

for (const readtableCase of [":preserve", ":invert"]) {
  describe(`the tools in a package whose readtable has the case ${readtableCase}`, () => {
    const server = liveServer({ code: PROGRAM.replace("CASE", readtableCase) });
    const inCase = (code: string) =>
      readtableCase === ":preserve" ? code : code.replaceAll(/\b[A-Z][A-Z-]+\b/g, (word) => word.toLowerCase());
    before(async () => {
      const defined = await server.call("evaluate-lisp", { package: "rt-app", code: inCase(DEFINITIONS) });
      expect(defined.isError, blocks(defined).join("\n")).to.equal(false);
    });

    async function answer(name: string, args: object): Promise<string> {
      return blocks(await server.call(name, args)).join("\n--\n");
    }

    /** Names with the prefix of their package are found in their case. */
    async function expectFound(): Promise<void> {
      const name = "rt-app::CamelCase";
      expect(await answer("show-source", { name })).to.contain("CamelCase (TheArg)");
      expect(await answer("describe-symbol", { name })).to.contain("[FUNCTION]");
      expect(await answer("find-references", { name, mode: "callers" })).to.contain("Caller");
      expect(await answer("class-info", { name: "rt-app::MyClass" })).to.contain("SlotOne");
      expect(await answer("show-source", { name: "(setf rt-app::MyPlace)" })).to.contain("(o MyClass)");
      expect(await answer("show-source", { name: "(method rt-app::MyGeneric (rt-app::MyClass))" })).to.contain(
        "MyGeneric ((o MyClass))",
      );
      for (const called of [name, "(setf rt-app::MyPlace)", "(method rt-app::MyGeneric (rt-app::MyClass))"]) {
        const set = await server.call("breakpoint_set", { function: called });
        expect(set.structuredContent, `${called}: ${blocks(set).join("\n")}`).to.have.property("id");
        await server.call("breakpoint_remove", { id: set.structuredContent?.["id"] });
      }
    }

    it("reads code in it as the package's readtable says, in a call and after in-package", async () => {
      expect(await answer("evaluate-lisp", { package: "rt-app", code: "[1 (CamelCase 2)]" })).to.equal("=> (1 2)");
      expect(await answer("evaluate-lisp", { code: "(in-package :rt-app) [1 (CamelCase 2)]" })).to.contain("=> (1 2)");
      expect(await answer("evaluate-lisp", { code: "[3]" })).to.equal("=> (3)");
      expect(await answer("compile-code", { code: "(CamelCase [1])" })).to.contain("The code compiles");
      expect(await answer("macroexpand-form", { code: "(MyMac 7)" })).to.equal(inCase("(LIST 7)"));
      expect(await answer("inspect-object", { object: "[1 2]" })).to.contain("list of 2");
      expect(await answer("profile-code", { code: "(CamelCase 1)" })).to.contain("samples");
      expect(await answer("heap", { mode: "growth", code: "[1]" })).to.contain("=> (1)");
    });

    it("finds names in their case, and those that its answers show", async () => {
      for (const name of ["CamelCase", "rt-app::CamelCase", "RT-APP::|CamelCase|", "'CamelCase", "#'CamelCase"]) {
        expect(await answer("show-source", { name }), name).to.contain("CamelCase (TheArg)");
        expect(await answer("describe-symbol", { name, package: "rt-app" }), name).to.contain("[FUNCTION]");
      }
      expect(await answer("find-references", { name: "CamelCase", mode: "callers" })).to.contain("Caller");
      expect(await answer("class-info", { name: "MyClass" })).to.contain("SlotOne");
      expect(await answer("show-source", { name: "(setf MyPlace)" })).to.contain("(o MyClass)");
      expect(await answer("show-source", { name: "(method MyGeneric (MyClass))" })).to.contain(
        "MyGeneric ((o MyClass))",
      );
      expect(await answer("class-info", { name: "MyGeneric", arguments: ["MyClass"] })).to.contain("MyGeneric");
      const listed = await answer("list-definitions", {});
      for (const name of listed.match(/\S*CamelCase\S*/g) ?? [])
        expect(await answer("show-source", { name }), name).to.contain("(TheArg)");
    });

    it("finds names in their case from another package, by their prefix", async () => {
      await answer("evaluate-lisp", { code: inCase("(IN-PACKAGE :CL-USER)") });
      await expectFound();
      expect(await answer("show-source", { package: "cl-user", name: "rt-app::CamelCase" })).to.contain(
        "CamelCase (TheArg)",
      );
      const functions = ["rt-app::CamelCase"];
      expect(await answer("trace-calls", { functions, code: "(rt-app::|CamelCase| 2)" })).to.contain("1 call");
      expect(await answer("breakpoint_set", { function: "rt-app::CamelCased" })).to.match(
        /no such function|not defined/i,
      );
      await answer("evaluate-lisp", { code: "(in-package :rt-app)" });
    });

    it("inspects what a name alone means, and shows it as code reads it", async () => {
      await answer("evaluate-lisp", { package: "rt-app", code: inCase("(DEFVAR CamelVar 11)") });
      for (const home of ["cl-user", "rt-app"]) {
        await answer("evaluate-lisp", { code: inCase(`(CL:IN-PACKAGE :${home.toUpperCase()})`) });
        const inspected = await answer("inspect-object", { object: " rt-app::CamelVar " });
        const [, expression = ""] = /^11\n.*, (rt-app::\S+)$/im.exec(inspected) ?? [];
        expect(await answer("evaluate-lisp", { code: expression }), inspected).to.equal("=> 11");
        for (const [object, shown] of [
          ["#'rt-app::CamelCase", /^#<FUNCTION .*CamelCase/i],
          ["'rt-app::CamelCase", /^(?:rt-app::)?\|?CamelCase\|?\nsymbol/i],
        ] as const)
          expect(await answer("inspect-object", { object }), home).to.match(shown);
        await answer("evaluate-lisp", { package: "rt-app", code: "(CamelCase 5)" });
        expect(await answer("inspect-object", { object: "rt-app::CamelVar", frame: 0 }), home).to.match(/^11\n/);
      }
    });

    it("finds names in their case although other code has interned them as the standard readtable reads them", async () => {
      await answer("evaluate-lisp", { code: inCase("(IN-PACKAGE :CL-USER)") });
      await server.evaluate("(list 'rt-app::CamelCase 'rt-app::MyClass 'rt-app::MyPlace 'rt-app::MyGeneric)");
      await expectFound();
      await answer("evaluate-lisp", { code: "(in-package :rt-app)" });
    });

    it("sets breakpoints, traces and evaluates in frames in it", async () => {
      const set = await server.call("breakpoint_set", {
        function: "CamelCase",
        condition: "[TheArg]",
        log: "[TheArg]",
      });
      expect(set.structuredContent, JSON.stringify(set)).to.have.property("id");
      expect(await answer("evaluate-lisp", { code: "(Caller 2)" })).to.contain("(2)");
      await server.call("breakpoint_remove", { id: set.structuredContent?.["id"] });
      const traced = await answer("trace-calls", {
        functions: ["CamelCase", "(setf MyPlace)"],
        code: "[(CamelCase 2)]",
        condition: "[1]",
      });
      expect(traced).to.contain("CamelCase 2");
      expect(await answer("evaluate-lisp", { code: "(Caller 5)" })).to.contain("big");
      const { structuredContent } = await server.call("debugger_frames", { end: 3 });
      const frames = JSON.stringify(structuredContent?.["frames"]);
      const index = Number(/"index":(\d+),"function":"[^"]*CamelCase/.exec(frames)?.[1]);
      expect(await answer("debugger_frame_locals", { frame: index })).to.contain("TheArg");
      expect(await answer("debugger_eval_in_frame", { frame: index, code: "[TheArg 1]" })).to.contain("=> (5 1)");
      const restarted = await server.call("debugger_invoke_restart", { restart: "UseThat", values: ["[9]"] });
      expect(blocks(restarted).join("\n")).to.contain("=> (9)");
    });
  });
}

describe("the tools in a package with local nicknames", () => {
  const server = liveServer({ code: PROGRAM.replace("CASE", ":upcase") });

  async function answer(name: string, args: object): Promise<string> {
    return blocks(await server.call(name, args)).join("\n--\n");
  }

  it("reads them in code, in names and as packages", async () => {
    const where = { package: "rt-nick" };
    expect(await answer("macroexpand-form", { ...where, code: "(u::m 1)" })).to.equal("(list 1)");
    expect(await answer("compile-code", { ...where, code: "(defun g () (u:f 1))" })).to.contain("The code compiles");
    expect(await answer("class-info", { ...where, name: "u:thing" })).to.contain("class U:THING");
    expect(await answer("show-source", { ...where, name: "u:f" })).to.contain("(defun");
    expect(await answer("describe-symbol", { ...where, name: "u:f" })).to.contain("RT-HOME:");
    await server.evaluate("(in-package :rt-nick)");
    expect(await answer("class-info", { package: "u", name: "thing" })).to.contain("class ");
    expect(await answer("apropos-search", { package: "u", pattern: "thin" })).to.contain("THING");
    expect(await answer("trace-calls", { package: "u", code: "(u:f 1)" })).to.contain("1 call");
    expect(
      (await server.call("breakpoint_set", { function: "u:f", condition: "(u::m 1)" })).structuredContent,
    ).to.have.property("id");
    expect(await answer("evaluate-lisp", { code: "(u:f 1)" })).to.contain("[BREAKPOINT]");
  });
});
