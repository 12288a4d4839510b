import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { OptionError, readConfig } from "swank-mcp";
import { ServerProcess } from "../../support/server-process.js";

interface CheckRun {
  readonly output: string;
  readonly code: number | null;
}

/** Runs `swank-mcp check` with `input` as its standard input. */
async function check(files: readonly string[], input = ""): Promise<CheckRun> {
  const program = new ServerProcess(["check", ...files]);
  let output = "";
  program.process.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  program.process.stdin.write(input);
  const { code } = await program.end();
  return { output, code };
}

describe("swank-mcp check", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "check-"));
  });

  after(async () => {
    await rm(folder, { recursive: true });
  });

  async function file(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  it("skips a first line that begins with #!, and no later one", async () => {
    const script = await file("script.lisp", "#!/usr/bin/env -S sbcl --script (\n(print 1)\n");
    expect(await check([script])).to.deep.equal({ output: "", code: 0 });
    const later = await file("later.lisp", "(print 1)\n#!/usr/bin/sbcl (\n");
    expect((await check([later])).code).to.equal(1);
  });

  it("prints nothing and exits with 0 for balanced files, also in Latin-1 and with a byte order mark", async () => {
    const files = [
      await file("good.lisp", '(defun f (x) "(" #\\) x) ; )\n#| ( |#\n'),
      await file("latin.lisp", Buffer.from('(print "é")', "latin1")),
      await file("mark.lisp", "\ufeff(f)\r\n"),
      await file("empty.lisp", ""),
    ];
    expect(await check(files)).to.deep.equal({ output: "", code: 0 });
  });

  it("names the line in which a parenthesis is probably missing, for each of several files", async () => {
    const open = await file("open.lisp", "(defun f (x)\n  (if x 1 2)\n\n(defun g ()\n  3)\n");
    const surplus = await file("surplus.lisp", "(defun f (x)\n  (print x)))\n");
    const text = await file("text.lisp", '(f "ä" "x)\n');
    expect(await check([open, surplus, text])).to.deep.equal({
      output: `${open}:1:1: the list that begins here never ends; a closing parenthesis is missing, probably in line 2
${open}:2:3: note: probably in this line: (if x 1 2)
${surplus}:2:13: this parenthesis closes nothing
${text}:1:8: the string that begins here never ends
`,
      code: 1,
    });
  });

  it("reads standard input as -", async () => {
    expect(await check(["-"], "(a\n")).to.deep.equal({
      output: "(standard input):1:1: the list that begins here never ends; a closing parenthesis is missing\n",
      code: 1,
    });
    expect(await check(["-"], "(a)")).to.deep.equal({ output: "", code: 0 });
  });

  it("exits with 2 if a file cannot be checked, and checks the others", async () => {
    const missing = join(folder, "missing.lisp");
    const binary = await file("binary.fasl", new Uint8Array([35, 0, 40]));
    await mkdir(join(folder, "src"));
    const open = await file("open2.lisp", "(a");
    const { output, code } = await check([missing, binary, join(folder, "src"), open, "/dev/zero"]);
    expect(output).to.equal(`${missing}: there is no such file
${binary}: is not a text file
${folder}/src: is a folder; name the files in it
${open}:1:1: the list that begins here never ends; a closing parenthesis is missing
/dev/zero: is larger than 200 MB and was not checked
`);
    expect(code).to.equal(2);
  });

  it("checks a file of 6 MB", async () => {
    const huge = await file("huge.lisp", `${"(defun f (x) (list x))\n".repeat(250_000)}(g\n`);
    expect(await check([huge])).to.deep.equal({
      output: `${huge}:250001:1: the list that begins here never ends; a closing parenthesis is missing\n`,
      code: 1,
    });
  });

  it("refuses a command line without files", () => {
    expect(() => readConfig(["check"], {})).to.throw(OptionError, "check needs files: swank-mcp check FILE...");
    expect(readConfig(["check", "--help"], {})).to.include({ command: "check", help: "short" });
    expect(readConfig(["check", "a.lisp", "-"], {}).files).to.deep.equal(["a.lisp", "-"]);
  });

  it("with --fix writes what the indentation says, and shows it alone with --dry-run", async () => {
    const unclosed = '(defun f (x)\n  (let ((y 1)\n    (list x y)) ; a (comment\n\n(defun g ()\n  (list "a)" 1)\n';
    const lacking = await file("lacking.lisp", unclosed);
    const dry = await check(["--fix", "--dry-run", lacking]);
    expect(dry.output).to.include(
      "\n-   (let ((y 1)\n-     (list x y)) ; a (comment\n+   (let ((y 1))\n+     (list x y))) ; a (comment\n",
    );
    expect(dry.code).to.equal(1);
    expect(await readFile(lacking, "utf8")).to.equal(unclosed);
    const surplus = await file("surplus.lisp", "(defun f (x)\n  (let ((y 1)))\n    (list x y)))\n\n(defun g () 1)\n");
    const fixed = await check(["--fix", lacking, surplus]);
    expect(fixed.code).to.equal(0);
    expect(fixed.output).to.include(`${surplus}: fixed by its indentation: look at the change\n`);
    expect(await readFile(lacking, "utf8")).to.equal(
      unclosed.replace("((y 1)", "((y 1))").replace("x y))", "x y)))").replace('"a)" 1)', '"a)" 1))'),
    );
    expect(await readFile(surplus, "utf8")).to.equal(
      "(defun f (x)\n  (let ((y 1))\n    (list x y)))\n\n(defun g () 1)\n",
    );
    expect(await check([lacking, surplus])).to.deep.equal({ output: "", code: 0 });
  });

  it("with --fix leaves files alone of which nothing says what is meant", async () => {
    const quote = await file("quote.lisp", '(defun f () "abc)\n(defun g () 1)\n');
    const latin = await file("latin.lisp", Buffer.from('(defun f () (list "\xe4")\n', "latin1"));
    const run = await check(["--fix", quote, latin]);
    expect(run.code).to.equal(1);
    expect(run.output).to.include(`${quote}: not fixed: the indentation does not say what is meant\n`);
    expect(run.output).to.include(`${latin}: not fixed: it is not UTF-8\n`);
    expect((await check(["--fix", "-"], "(list 1\n")).output).to.include("not fixed: standard input cannot be written");
    for (const words of [["--fix"], ["console", "--fix"], ["check", "--dry-run", quote]])
      expect(() => readConfig(words, {})).to.throw(OptionError, "swank-mcp check --fix");
  });
});
