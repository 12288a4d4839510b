import { expect } from "chai";
import { read } from "sexp-parser";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped, values } from "./outcomes.js";

describe("Session", () => {
  const image = liveClient();

  describe("package", () => {
    it("is kept and reported when code sets it", async () => {
      const outcome = returned(await image.evaluate('(defpackage "FOLLOWED" (:use "CL")) (in-package "FOLLOWED")'));
      expect(outcome.package).to.equal("FOLLOWED");
      expect(await image.values("(package-name *package*) 'here")).to.deep.equal(["HERE"]);
      expect(await image.values("(symbol-package 'here)")).to.deep.equal(['#<PACKAGE "FOLLOWED">']);
    });

    it("is that of the form before the one that stopped", async () => {
      const evaluation = image.client.evaluate(
        '(defpackage "HALFWAY" (:use "CL")) (in-package "HALFWAY") (error "stop")',
      );
      expect(stopped(await evaluation.next()).package).to.equal("HALFWAY");
      expect(await image.values("(package-name *package*)")).to.deep.equal(['"HALFWAY"']);
      expect(aborted(await evaluation.abort()).package).to.equal("HALFWAY");
    });

    it("is unchanged by a call with another package, unless its code sets one", async () => {
      for (const name of ["KEYWORD", ":keyword", "#:keyword", "keyword"]) {
        const outcome = returned(await image.evaluate("'here", { package: name }));
        expect(outcome.values, name).to.deep.equal([":HERE"]);
        expect(outcome.package).to.equal("COMMON-LISP-USER");
      }
      await image.values("(in-package :cl-user)", { package: "KEYWORD" }).catch(() => undefined);
      for (const [code, name] of [
        ["(cl:in-package :sb-ext)", "SB-EXT"],
        ["(cl:setf cl:*package* (cl:find-package :sb-mop))", "SB-MOP"],
        ["(cl:in-package :cl)", "COMMON-LISP"],
        ["(cl:let ((cl:*package* (cl:find-package :sb-ext))) 1)", "COMMON-LISP"],
      ] as const) {
        expect(returned(await image.evaluate(code, { package: "CL" })).package, code).to.equal(name);
        expect(await image.values("(cl:package-name cl:*package*)")).to.deep.equal([`"${name}"`]);
      }
      await image.values("(in-package :cl-user)");
    });

    it("that is deleted is left, with a warning that names the next one", async () => {
      const delete_ = "(make-package :going :use '(:cl)) (in-package :going) (delete-package *package*)";
      const outcome = returned(await image.evaluate(delete_));
      expect(outcome.package).to.equal("COMMON-LISP-USER");
      expect(outcome.warnings.map(({ message }) => message)).to.deep.equal([
        "The current package was deleted. The package is COMMON-LISP-USER now.",
      ]);
      await image.values("(make-package :going :use '(:cl)) (in-package :going)");
      const other = await image.connect();
      await values(other, "(delete-package :going)");
      const next = returned(await image.evaluate("(list 'a)"));
      expect(next.values).to.deep.equal(["(A)"]);
      expect(next.warnings).to.have.lengthOf(1);
      expect(returned(await image.evaluate("1")).warnings).to.deep.equal([]);
    });

    it("is found by name without reading the name, which could run code", async () => {
      await image.values("(defvar *ran* nil) (setf *ran* nil)");
      const codes = [
        "#.(cl:setf cl-user::*ran* cl:t)",
        "#1.(cl:loop)",
        "#+#.(cl:loop) x",
        "cl-user #.(cl:loop)",
        "|#.(cl:loop)",
        "'#.(cl:loop)",
        "#:#.(cl:loop)",
      ];
      for (const name of codes) {
        await rejection(image.evaluate("1", { package: name }), "NO_SUCH_PACKAGE");
        await image.client.describeSymbol("car", { package: name });
        await image.client.describeSymbol(`${name}:car`);
      }
      for (const name of codes) {
        const request = image.client.connection.request(read("(cl:list 1)"), { label: "list", package: name });
        await rejection(request, "INVALID_ARGUMENT");
        expect(await image.client.completions("ca", name)).to.deep.equal([]);
        expect(await image.client.completions(`${name}:ca`, "CL-USER")).to.deep.equal([]);
      }
      expect(await image.values("*ran*")).to.deep.equal(["NIL"]);
    });

    it("may have a name that contains #", async () => {
      await image.values('(defpackage "FOO#BAR" (:use)) (intern "HERE" "FOO#BAR")');
      const form = read("(cl:package-name swank::*buffer-package*)");
      const request = image.client.connection.request(form, { label: "package", package: "FOO#BAR" });
      expect(await request).to.include({ status: "ok", value: "FOO#BAR" });
      expect(await image.client.completions("he", "FOO#BAR")).to.deep.equal(["here"]);
      expect(await image.client.completions("foo#bar::he", "CL-USER")).to.deep.equal(["foo#bar::here"]);
    });

    it("accepts the spellings that code accepts, including local nicknames", async () => {
      await image.values('(defpackage "SPELT" (:use "CL") (:local-nicknames ("SP" "KEYWORD")))');
      for (const name of ["SPELT", "spelt", ":spelt", "#:spelt", '"SPELT"', "|SPELT|", " spelt "])
        expect(await image.values("(package-name *package*)", { package: name })).to.deep.equal(['"SPELT"']);
      await image.values("(in-package :spelt)");
      expect(await image.values("(cl:package-name cl:*package*)", { package: "sp" })).to.deep.equal(['"KEYWORD"']);
      await image.values("(in-package :cl-user)");
    });

    it("is refused if it does not exist", async () => {
      const evaluation = image.client.evaluate("(print 1)", { package: "NO-SUCH" });
      const error = await evaluation.next().catch((reason: unknown) => reason);
      expect(error).to.include({ name: "SwankError", code: "NO_SUCH_PACKAGE" });
      expect(evaluation.isSettled).to.equal(true);
      expect(await evaluation.next().catch((reason: unknown) => reason)).to.equal(error);
      expect(await evaluation.interrupt()).to.equal(false);
    });
  });

  describe("history", () => {
    it("contains the session's values and forms", async () => {
      await image.values("41");
      await image.values("(values 42 :second)");
      expect(await image.values("(list * ** / // + ++)")).to.deep.equal([
        "(42 41 (42 :SECOND) (41) (VALUES 42 :SECOND) 41)",
      ]);
      expect(await image.values("(list -)")).to.deep.equal(["((LIST -))"]);
      expect(await image.values("1 2 3 (list * ** ***)")).to.deep.equal(["(3 2 1)"]);
    });

    it("contains every form that returned before one stopped", async () => {
      const evaluation = image.client.evaluate('7 8 (error "stop")');
      stopped(await evaluation.next());
      expect(await image.values("(list * **)")).to.deep.equal(["(8 7)"]);
      await evaluation.abort();
    });

    it("is separate from those of other clients and the image", async () => {
      const other = await image.connect();
      const global =
        "(cl:mapcar 'cl:princ-to-string (cl:mapcar 'sb-ext:symbol-global-value '(cl:* cl:+ cl:/ cl:*package* cl:*readtable*)))";
      const before = await image.ask(global);
      await image.values("(in-package :keyword)");
      await image.values("42");
      await image.values("(setf *readtable* (copy-readtable))", { package: "CL" });
      expect(await values(other, "(list * (package-name *package*))")).to.deep.equal(['(NIL "COMMON-LISP-USER")']);
      expect(await image.values("(cl:list cl:** (cl:package-name cl:*package*))")).to.deep.equal(['(42 "KEYWORD")']);
      expect(await image.ask(global)).to.equal(before);
    });
  });

  describe("readtable", () => {
    const BRACKETS = `(setf *readtable* (copy-readtable))
      (set-macro-character #\\[ (lambda (stream char) (declare (ignore char)) (cons 'list (read-delimited-list #\\] stream t))))
      (set-macro-character #\\] (get-macro-character #\\)))`;

    it("is kept when code sets it, separate from other clients'", async () => {
      const other = await image.connect();
      await image.values(BRACKETS);
      expect(await image.values('[1 [2 3] "["]')).to.deep.equal(['(1 (2 3) "[")']);
      expect(await values(other, "'[")).to.deep.equal(["["]);
    });

    it("alone determines whether code is complete", async () => {
      await image.values(
        "(set-macro-character #\\! (lambda (stream char) (declare (ignore char)) (read-char stream)))",
      );
      expect(await image.values('(list !( !) !" 1)')).to.deep.equal(['(#\\( #\\) #\\" 1)']);
      expect(await image.values("!(")).to.deep.equal(["#\\("]);
      expect(aborted(await image.evaluate("(princ 1) (list !( ")).error).to.include({ type: "END-OF-FILE" });
    });

    it("can be changed in place without affecting other clients", async () => {
      const other = await image.connect();
      await image.values("(setf (readtable-case *readtable*) :preserve)");
      expect(await image.values("'Abc")).to.deep.equal(["Abc"]);
      expect(await values(other, "'Abc")).to.deep.equal(["ABC"]);
    });
  });

  describe("printer and reader variables", () => {
    it("are kept when code sets them, separate from other clients'", async () => {
      const other = await image.connect();
      await image.values("(defvar *ten* 10) (setf *print-base* 2 *print-case* :downcase *read-base* 16)");
      expect(await image.values("(list *ten* 'z 10)")).to.deep.equal(["(1010 z 10000)"]);
      expect(await values(other, "(list *ten* 'z 10)")).to.deep.equal(["(10 Z 10)"]);
      expect(await image.ask("(cl:mapcar 'sb-ext:symbol-global-value '(cl:*print-base* cl:*print-case*))")).to.equal(
        "(10 :UPCASE)",
      );
      expect(JSON.stringify(await image.client.describeSymbol("*ten*"))).to.include('"1010"');
      await image.client.reset();
      expect(await image.values("(list 10 'a)")).to.deep.equal(["(10 A)"]);
    });
  });

  describe("compiler policy", () => {
    it("is changed only by the code's own declamations", async () => {
      const before = await image.ask("(cl:list (sb-ext:restrict-compiler-policy) (sb-ext:describe-compiler-policy))");
      await image.values("(defun policy-f (x) (/ x 0)) (compile nil '(lambda (x) x))");
      await image.client.evaluate("(sleep 0)", { policy: "keep" }).next();
      expect(await image.ask("(cl:list (sb-ext:restrict-compiler-policy) (sb-ext:describe-compiler-policy))")).to.equal(
        before,
      );
      await image.values("(declaim (optimize (speed 2)))");
      const [policy] = await image.values(
        "(with-output-to-string (*standard-output*) (sb-ext:describe-compiler-policy))",
      );
      expect(policy).to.match(/SPEED = 2/);
      await image.values("(declaim (optimize (speed 1)))");
    });

    it("preserves frames and variables that the image's policy would drop", async () => {
      const code = "(defun policy-f (x) (/ x 0)) (defun policy-g (x) (policy-f x)) (policy-g 1)";
      const debugged = image.client.evaluate(code);
      const calls = stopped(await debugged.next()).stop.condition.frames.map(({ call }) => call);
      expect(calls).to.include.members(["(POLICY-F 1)", "(POLICY-G 1)"]);
      await debugged.abort();
      const kept = image.client.evaluate(code, { policy: "keep" });
      const fewer = stopped(await kept.next()).stop.condition.frames.map(({ call }) => call);
      expect(fewer).not.to.include.oneOf(["(POLICY-F 1)", "(POLICY-G 1)"]);
      await kept.abort();
    });
  });
});
