import { expect } from "chai";
import { read } from "sexp-parser";
import * as calls from "swank-client/swank";
import { liveClient } from "./live-image.js";
import { testFolder } from "./test-folder.js";

type CompilerNote = ReturnType<typeof calls.compiling.compileStringForEmacs.decode>["notes"][number];
type SourceLocation = CompilerNote["location"];

function found(location: SourceLocation | undefined): Extract<SourceLocation, { status: "found" }> {
  if (location?.status === "found") return location;
  throw new Error(location === undefined ? "There is no definition." : location.reason);
}

/** The text of `code` at a note's place. */
function textAt(code: string, { location }: CompilerNote): string {
  const { position } = found(location);
  if (position.kind !== "offset") throw new Error(`The note has a position of kind ${position.kind}.`);
  return code.slice(position.offset - 1);
}

/** What slime-tests.el asks about code, under its names. */
describe("SwankClient in the scenarios of SLIME's tests of code:", function () {
  this.timeout(120_000);
  const image = liveClient();
  const folder = testFolder();

  const inPackage = (name: string) => image.client.lisp.with({ package: name });
  const definition = async (name: string, packageName: string) =>
    (await inPackage(packageName).run(calls.definitions.findDefinitionsForEmacs, name)).map(({ location }) =>
      found(location),
    );

  for (const [name, packageName, start] of [
    ["start-server", "SWANK", "(defun start-server "],
    ["swank::start-server", "CL-USER", "(defun start-server "],
    ["swank:start-server", "CL-USER", "(defun start-server "],
    ["swank::connection", "CL-USER", "(defstruct (connection"],
    ["swank::*emacs-connection*", "CL-USER", "(defvar *emacs-connection*"],
  ] as const) {
    it(`find-definition: ${name} in ${packageName}`, async () => {
      const [place, ...others] = await definition(name, packageName);
      expect(others).to.deep.equal([]);
      expect(place?.snippet).to.match(new RegExp(`^${start.replaceAll(/[(*]/g, "\\$&")}`, "i"));
      expect(place?.place)
        .to.have.property("path")
        .that.matches(/swank\.lisp$/);
    });
  }

  it("find-definition.2: a function after forms that are only read", async () => {
    const code = `#.(prog1 nil (defvar *foobar* 42))
      (defun .foo. (x)
        (+ x #.*foobar*))
      #.(prog1 nil (makunbound '*foobar*))`;
    await inPackage("SWANK").run(calls.compiling.compileStringForEmacs, code, {
      buffer: "B",
      position: 1,
      line: 1,
      column: 1,
    });
    const [place] = await definition(".foo.", "SWANK");
    expect(place?.place).to.include({ kind: "buffer", name: "B" });
    expect(place?.snippet).to.match(/^\(defun \.foo\. /);
  });

  it("find-definition.3: a structure inside progn", async () => {
    const code = "(progn (defun foo-fun ()) (defstruct (foo-struct (:constructor nil) (:predicate nil))))";
    await inPackage("SWANK").run(calls.compiling.compileStringForEmacs, code, { buffer: "B" });
    const [place] = await definition("swank::foo-struct", "CL-USER");
    const { position } = place ?? {};
    expect(position?.kind === "offset" ? code.slice(position.offset - 1) : position).to.match(
      /^\(defstruct \(foo-struct/,
    );
  });

  for (const [prefix, names] of [
    [
      "cl:compile",
      [
        "cl:compile",
        "cl:compile-file",
        "cl:compile-file-pathname",
        "cl:compiled-function",
        "cl:compiled-function-p",
        "cl:compiler-macro",
        "cl:compiler-macro-function",
      ],
    ],
    [
      "swank::compile-file",
      [
        "swank::compile-file",
        "swank::compile-file-for-emacs",
        "swank::compile-file-if-needed",
        "swank::compile-file-output",
        "swank::compile-file-pathname",
      ],
    ],
    ["cl:foobar", []],
    ["cl:m-v-l", []],
  ] as const) {
    it(`complete-symbol: ${prefix}`, async () => {
      expect([...(await image.run(calls.completion.simpleCompletions, prefix, "CL-USER"))].sort()).to.deep.equal(names);
    });
  }

  for (const [what, body] of [
    ["the call alone", "(cl-user::bar)"],
    ["after a character and a comment", "#\\space\n  ;;Sdf\n  (cl-user::bar)"],
    ["after skipped forms and nested comments", "#+(or)skipped\n  #| #||#\n  #||# |#\n  (cl-user::bar)"],
    ["after a string with quotes", '"\\" bla bla \\""\n  (cl-user::bar)'],
    ["after a form that is evaluated when it is read", "#.*log-events*\n  (cl-user::bar)"],
  ] as const) {
    it(`compile-defun: the note about an undefined function is at its call: ${what}`, async () => {
      const code = `(defun cl-user::foo () ${body})`;
      const { notes } = await inPackage("SWANK").run(calls.compiling.compileStringForEmacs, code, {
        buffer: "B",
        position: 1,
      });
      const note = notes.find(({ message }) => /undefined function.*BAR/is.test(message));
      if (note === undefined) throw new Error("There is no note.");
      expect(textAt(code, note)).to.match(/^\(cl-user::bar\)/);
      await image.values("(fmakunbound 'foo)");
    });
  }

  it("utf-8-source: a string with NUL, evaluated, compiled, and loaded from a file", async () => {
    const text = "\u0000おはよう";
    const code = `(defun cl-user::foo () "${text}")`;
    const result = async () => image.client.request(read("(cl-user::foo)"), { label: "foo" });
    await image.values(code);
    expect(await result()).to.equal(text);
    await image.values("(fmakunbound 'foo)");
    await image.run(calls.compiling.compileStringForEmacs, code, { buffer: "B" });
    expect(await result()).to.equal(text);
    await image.values("(fmakunbound 'foo)");
    const file = await folder.write("utf8.lisp", `;; -*- coding: utf-8 -*-\n${code}\n`);
    const { fasl } = await image.run(calls.compiling.compileFileForEmacs, file, { load: true });
    await image.run(calls.evaluation.loadFile, fasl ?? "");
    expect(await result()).to.equal(text);
  });
});
