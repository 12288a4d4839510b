import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { NIL, read } from "sexp-parser";
import type { SwankClient } from "swank-client";
import { openConnection, runnerOf, tcpOpener } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

type CompilerNote = ReturnType<typeof calls.compiling.compileStringForEmacs.decode>["notes"][number];
type SourceLocation = CompilerNote["location"];

/** SLIME's tests compare texts without case and line breaks. */
const plain = (text: string | undefined) => text?.toLowerCase().replaceAll(/\s+/g, " ").trim();

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
  const image = liveImage();
  let lisp: SwankClient;
  let folder: string;
  beforeEach(async () => {
    lisp = await image.connect();
    folder = await mkdtemp(join(tmpdir(), "slime-behaviours-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const inPackage = (name: string) => lisp.lisp.with({ package: name });
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
      expect([...(await lisp.run(calls.completion.simpleCompletions, prefix, "CL-USER"))].sort()).to.deep.equal(names);
    });
  }

  for (const [name, arglist] of [
    ["swank::operator-arglist", "(swank::operator-arglist name package)"],
    ["swank::compute-backtrace", "(swank::compute-backtrace start end)"],
    ["cl:lisp-implementation-type", "(cl:lisp-implementation-type)"],
  ] as const) {
    it(`arglist: ${name}`, async () => {
      expect(plain(await lisp.run(calls.definitions.operatorArglist, name, "swank"))).to.equal(arglist);
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
      await values(lisp, "(fmakunbound 'foo)");
    });
  }

  it("compile-file: a file without problems has no notes, and a compiled file", async () => {
    const file = join(folder, "f.lisp");
    await writeFile(file, "(defun foo () nil)\n");
    const { succeeded, notes, fasl } = await lisp.run(calls.compiling.compileFileForEmacs, file);
    expect([succeeded, notes, fasl]).to.deep.equal([true, [], join(folder, "f.fasl")]);
  });

  it("utf-8-source: a string with NUL, evaluated, compiled, and loaded from a file", async () => {
    const text = "\u0000おはよう";
    const code = `(defun cl-user::foo () "${text}")`;
    const result = async () => lisp.request(read("(cl-user::foo)"), { label: "foo" });
    await values(lisp, code);
    expect(await result()).to.equal(text);
    await values(lisp, "(fmakunbound 'foo)");
    await lisp.run(calls.compiling.compileStringForEmacs, code, { buffer: "B" });
    expect(await result()).to.equal(text);
    await values(lisp, "(fmakunbound 'foo)");
    const file = join(folder, "utf8.lisp");
    await writeFile(file, `;; -*- coding: utf-8 -*-\n${code}\n`);
    const { fasl } = await lisp.run(calls.compiling.compileFileForEmacs, file, { load: true });
    await lisp.run(calls.evaluation.loadFile, fasl ?? "");
    expect(await result()).to.equal(text);
  });

  for (const form of [
    "(let ((table (make-hash-table))) (dotimes (i 10 table) (setf (gethash i table) i)))",
    "(make-array 10)",
    "(make-list 10)",
    "'cons",
    "#'cons",
  ]) {
    it(`inspector: ${form}`, async () => {
      const inspection = await lisp.run(calls.inspecting.initInspector, form);
      expect(inspection?.parts.length).to.be.greaterThan(0);
      await lisp.run(calls.inspecting.quitInspector);
      expect(await values(lisp, "(null swank::*istate*)")).to.deep.equal(["T"]);
    });
  }

  it("macroexpand: once, and the inner form once", async () => {
    const swank = inPackage("SWANK");
    for (const code of [
      "(defmacro qwertz (&body body) `(list :qwertz ',body))",
      "(defmacro yxcv (&body body) `(list :yxcv (qwertz ,@body)))",
    ]) {
      await swank.run(calls.compiling.compileStringForEmacs, code, { buffer: "B" });
    }
    const expand = async (form: string) => plain(await swank.run(calls.expanding.swankMacroexpand1, form));
    expect(await expand("(yxcv :A :B :C)")).to.equal("(list :yxcv (qwertz :a :b :c))");
    expect(await expand("(qwertz :a :b :c)")).to.equal("(list :qwertz '(:a :b :c))");
  });

  it("indentation: a macro's body is announced, and withdrawn when it has none any more", async () => {
    // The connection of a client takes no indentation rules.
    const { connection } = await openConnection(tcpOpener({ port: image.swank.port }));
    const announced: unknown[] = [];
    connection.on("event", (message) => {
      if (message.type !== "indentation-update") return;
      for (const { name, indentation } of message.rules) if (name === "with-lolipop") announced.push(indentation);
    });
    try {
      const swank = runnerOf(connection).with({ package: "SWANK" });
      for (const [parameters, indentation] of [
        ["(&body body)", 0],
        ["(&rest body)", NIL],
      ] as const) {
        const code = `(defmacro with-lolipop ${parameters} \`(progn ,@body))`;
        await swank.run(calls.compiling.compileStringForEmacs, code, { buffer: "B" });
        while (announced.at(-1) !== indentation) {
          await swank.run(calls.image.updateIndentationInformation);
          await pause(200);
        }
      }
      expect([...new Set(announced)]).to.deep.equal([0, NIL]);
    } finally {
      await connection.close();
    }
  });

  it("recompile-all-xrefs: the callers of a function in a file are found, and compiled again", async () => {
    const file = join(folder, "xrefs.lisp");
    await writeFile(
      file,
      `(in-package :swank)
(defmacro .var. () ''symbol)
(defun .fn1. () 1)
(defun .fn2. () (.fn1.) (.var.))
(defun .fn3. () (list (.fn1.) (.var.)))
`,
    );
    const compileAndLoad = async () => {
      const { fasl } = await lisp.run(calls.compiling.compileFileForEmacs, file, { load: true });
      await lisp.run(calls.evaluation.loadFile, fasl ?? "");
    };
    await compileAndLoad();
    const callers = async () =>
      (await inPackage("SWANK").run(calls.definitions.xref, "calls", ".fn1."))?.map(({ name, location }) => [
        name.toLowerCase(),
        found(location).place,
      ]);
    const expected = [".fn3.", ".fn2."].map((name) => [name, { kind: "file", path: file }]);
    expect(await callers()).to.have.deep.members(expected);
    await compileAndLoad();
    expect(await callers()).to.have.deep.members(expected);
  });
});
