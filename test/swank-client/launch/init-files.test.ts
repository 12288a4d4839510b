import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { print, read, symbol } from "sexp-parser";
import { type InitFiles, loadInitFiles } from "swank-client/launch";
import { launching, type TestImage } from "./launching.js";

describe("loadInitFiles", () => {
  const { launch, folder } = launching();

  async function home(
    sbclrc: string,
  ): Promise<{ path: string; write: (name: string, text: string) => Promise<string> }> {
    const path = await folder();
    const write = async (name: string, text: string) => {
      await writeFile(join(path, name), text);
      return join(path, name);
    };
    await write(".sbclrc", sbclrc);
    return { path, write };
  }

  const launchAt = (path: string) => launch({ env: { ...process.env, HOME: path } });

  /** The reports of the files, but for the system's, which depends on the machine. */
  async function load({ evaluate }: TestImage, files: InitFiles) {
    const reports = loadInitFiles.decode(
      read(await evaluate(print([symbol(loadInitFiles.name), ...(loadInitFiles.encode?.(files) ?? [])]))),
    );
    return reports.filter(({ path }) => !path.endsWith("/sbclrc"));
  }

  it("loads the user's init file and then the given files, in the same package and with the same effects as sbcl", async () => {
    const { path, write } = await home('(format t "hello~%") (defvar *from-init* 1) (setf *print-length* 7)');
    const file = await write("more.lisp", "(defvar *more* (1+ *from-init*)) (in-package :sb-ext)");
    const image = await launchAt(path);
    expect(await load(image, { load: [file] })).to.deep.equal([
      { path: join(path, ".sbclrc"), status: "loaded", output: "hello\n", error: undefined },
      { path: file, status: "loaded", output: "", error: undefined },
    ]);
    expect(await image.evaluate("(cl:list cl-user::*more* cl:*print-length* (cl:package-name cl:*package*))")).to.equal(
      '(2 7 "COMMON-LISP-USER")',
    );
  });

  it("does not load init files if asked not to", async () => {
    const { path, write } = await home("(defvar *from-init* 1)");
    const file = await write("only.lisp", "");
    const image = await launchAt(path);
    expect(await load(image, { noUserInit: true, load: [file] })).to.have.length(1);
    expect(await image.evaluate('(cl:find-symbol "*FROM-INIT*" :cl-user)')).to.equal("nil");
  });

  it("accepts missing init files", async () =>
    expect(await load(await launchAt(await folder()), {})).to.deep.equal([]));

  const broken: Record<string, readonly [text: string, error: RegExp, output: RegExp]> = {
    "signals an error": [
      '(print :before)\n\n(error "It is ~a." :broken)\n(print :after)',
      /^It is BROKEN\. \[SIMPLE-ERROR\]$/,
      /:BEFORE[\s\S]*line 3, column 0/,
    ],
    "cannot be read": ["(print 1)\n(foo", /end of file[\s\S]*line: 2/, /^\n1 $/],
    "names a package that does not exist": ["(nowhere:foo)", /NOWHERE/, /^/],
    "calls break": ['(break "stop here")', /^stop here \[SIMPLE-CONDITION\]$/, /^/],
    "exhausts the stack": ["(defun endless (x) (1+ (endless x)))\n(endless 1)", /exhausted/, /^/],
    "signals something that cannot be printed": [
      '(define-condition odd (error) () (:report (lambda (c s) (error "in the report" c s))))\n(error (quote odd))',
      /ODD/,
      /^/,
    ],
    "undefined function": ["(no-such-function 1)", /NO-SUCH-FUNCTION is undefined/, /^/],
  };
  for (const [what, [text, error, output]] of Object.entries(broken))
    it(`reports an error in a file and continues: ${what}`, async () => {
      const { path, write } = await home(text);
      const file = await write("good.lisp", "(defvar *good* 1)");
      const image = await launchAt(path);
      const [first, second] = await load(image, { load: [file] });
      expect(first?.error).to.match(error);
      expect(first?.output).to.match(output);
      expect(first?.output).not.to.include("AFTER");
      expect(second).to.deep.equal({ path: file, status: "loaded", output: "", error: undefined });
      expect(await image.evaluate("cl-user::*good*")).to.equal("1");
    });

  it("reports missing files, and accepts any file name", async () => {
    const { path, write } = await home("");
    const file = await write('odd "name" [*]?\\ä.lisp', "(defvar *odd* 5)");
    const image = await launchAt(path);
    const reports = await load(image, { noUserInit: true, load: [join(path, "gone.lisp"), file] });
    expect(reports.map((report) => report.path)).to.deep.equal([join(path, "gone.lisp"), file]);
    expect(reports.map((report) => report.status)).to.deep.equal(["missing", "loaded"]);
    expect(reports[0]?.error).to.include("gone.lisp");
    expect(reports[1]?.error).to.equal(undefined);
    expect(await image.evaluate("cl-user::*odd*")).to.equal("5");
  });

  it("distinguishes a missing file from a file that fails to find another one", async () => {
    const { path, write } = await home("");
    const file = await write("needy.lisp", `(load "${join(path, "gone.lisp")}")`);
    const [report] = await load(await launchAt(path), { noUserInit: true, load: [file] });
    expect(report).to.include({ path: file, status: "failed" });
  });

  it("keeps the end of long output", async () => {
    const { path } = await home('(dotimes (i 100000) (print i)) (error "done")');
    const [report] = await load(await launchAt(path), {});
    expect(report?.output)
      .to.match(/^\[\d+ characters left out\]/)
      .and.include("99999");
    expect(report?.output).to.have.length.lessThan(10_200);
  });
});
