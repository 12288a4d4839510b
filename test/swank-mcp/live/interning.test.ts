import { expect } from "chai";
import { liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** Names that nothing has: with and without packages, in bars, of functions and methods, and as people mistype them. */
const WRONG_NAMES = [
  "never-plain",
  "never-package::never-name",
  "cl-user::never-inside",
  "cl-user::|Never Bars|",
  "cl-user:never-outside",
  "cl:never-listed",
  "|never barred|",
  "#'never-quoted",
  ":never-keyword",
  "keyword::never-other-keyword",
  "(setf never-place)",
  "(setf cl-user::never-place)",
  "(method cl-user::never-generic (cl-user::never-class))",
  "(method print-object (cl-user::never-class t))",
  "sb-impl::never-internal",
];

const REFERENCE_MODES = "callers callees references bindings assignments macro-uses specializers subclasses".split(" ");

/** Code whose names nothing has. The reader would intern each. */
const WRONG_CODE = [
  "(cl-user::never-called never-argument)",
  "(when cl-user::never-tested `(never-list ,cl-user::never-comma #'cl-user::never-function))",
  "(when #+never-feature 1 #-cl-user::never-feature 2 #+(and sbcl (not never-other-feature)) cl-user::never-three)",
  "(when '#.cl-user::never-read-time 1)",
  "(when cl-user::(never-in-list) 1)",
  '(when \'cl-user::|Never \\| Bars| "cl-user::text" #\\: ; cl-user::comment\n 1)',
  "(never-package::never-called)",
];

/** Defines functions that note all symbols, and that list those that came since, except those of the library's and Swank's packages. */
const NOTING = `
  (defvar *noted-symbols*)
  (defun map-all-symbols (function)
    (dolist (package (list-all-packages))
      (unless (eql 0 (search "SWANK" (package-name package)))
        (do-symbols (symbol package) (when (eq package (symbol-package symbol)) (funcall function symbol))))))
  (defun note-symbols ()
    (setf *noted-symbols* (make-hash-table :test 'eq))
    (map-all-symbols (lambda (symbol) (setf (gethash symbol *noted-symbols*) t)))
    :noted)
  (defun new-symbols ()
    (let ((new '()))
      (map-all-symbols (lambda (symbol) (unless (gethash symbol *noted-symbols*) (push symbol new))))
      (let ((*package* (find-package :keyword))) (prin1-to-string new))))
  (progn (note-symbols) (new-symbols))`;

describe("tools that read names and code", function () {
  this.timeout(300_000);
  const server = liveServer({ code: NOTING });

  /** The symbols that came while the tools were called with these arguments, which must all be answered. */
  async function newSymbols(
    calls: readonly (readonly [tool: string, args: Record<string, unknown>])[],
  ): Promise<string> {
    // what the tools need is loaded when they are first called
    for (const [tool, args] of calls.slice(0, 2)) await server.call(tool, args);
    await server.evaluate("(note-symbols)");
    for (const [tool, args] of calls) {
      const text = blocks(await server.call(tool, args)).join("\n");
      expect(text, `${tool} ${JSON.stringify(args)}`).to.match(/\S/);
    }
    return (await server.evaluate("(new-symbols)")).join("\n");
  }

  for (const [tool, more] of [
    ["show-source", {}],
    ["describe-symbol", {}],
    ["describe-symbol", { package: "never-home" }],
    ["class-info", {}],
    ["class-info", { package: "cl-user" }],
    ["run-tests", {}],
    ["run-tests", { framework: "fiveam" }],
    ["run-tests", { framework: "sb-rt" }],
    ["run-tests", { framework: "asdf" }],
    ...REFERENCE_MODES.map((mode) => ["find-references", { mode }] as const),
  ] as const) {
    it(`${tool} ${JSON.stringify(more)} interns no name that it does not find`, async () => {
      expect(await newSymbols(WRONG_NAMES.map((name) => [tool, { name, ...more }]))).to.equal('=> "COMMON-LISP:NIL"');
    });
  }

  it("apropos-search and search-source intern no name that they do not find", async () => {
    const calls = WRONG_NAMES.flatMap((pattern): [string, Record<string, unknown>][] => [
      ["apropos-search", { pattern }],
      ["apropos-search", { pattern: "never", package: pattern }],
      ["search-source", { pattern, system: "never-system" }],
    ]);
    expect(await newSymbols(calls)).to.equal('=> "COMMON-LISP:NIL"');
  });

  it("class-info and describe-symbol read arguments of a call without interning", async () => {
    const argument = [...WRONG_CODE, ...WRONG_NAMES, "'cl-user::never-datum", "'(:never-key #+never-feature 1)"];
    const calls = ["class-info", "describe-symbol"].flatMap((tool) =>
      argument.map((text): [string, Record<string, unknown>] => [
        tool,
        { name: "print-object", arguments: [text, "t"], package: "cl-user" },
      ]),
    );
    expect(await newSymbols(calls)).to.equal('=> "COMMON-LISP:NIL"');
  });

  it("macroexpand-form interns no name of its code", async () => {
    const calls = [...WRONG_CODE, "never-plain", "cl-user::never-inside"].flatMap((code) =>
      ["once", "full", "all"].map((mode): [string, Record<string, unknown>] => ["macroexpand-form", { code, mode }]),
    );
    expect(await newSymbols(calls)).to.equal('=> "COMMON-LISP:NIL"');
  });

  it("macroexpand-form shows names that their packages lack as they are written, and keywords as keywords", async () => {
    await server.evaluate("(defmacro twice (x) `(list ,x ,(keywordp x) ,x))");
    const texts = [];
    for (const code of ["(twice cl-user::never-shown)", "(twice sb-impl::|Never b|)", "(twice :never-before)"])
      texts.push(blocks(await server.call("macroexpand-form", { code, mode: "all" })).join("\n"));
    expect(texts).to.deep.equal([
      "(list cl-user::never-shown nil cl-user::never-shown)",
      "(list sb-impl::|Never b| nil sb-impl::|Never b|)",
      "(list :never-before t :never-before)",
    ]);
  });
});
