import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { keyword, read } from "sexp-parser";
import type { Stop, SwankClient } from "swank-client";
import * as calls from "swank-client/swank";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { aborted } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

/** The stop of a thread at a level, once it is there. */
async function stopAt(client: SwankClient, thread: number, level: number): Promise<Stop> {
  for (;;) {
    const found = client.stops.find((stop) => stop.thread === thread && stop.level === level);
    if (found !== undefined) return found;
    await pause(5);
  }
}

async function untilEnded({ ended }: Stop): Promise<void> {
  while (!ended.aborted) await pause(5);
}

/** Makes a stopped thread stop again, one level deeper, as a request that fails would without this library. */
async function climb(client: SwankClient, thread: number, level: number): Promise<Stop> {
  const options = { label: "climb", thread, timeout: Number.POSITIVE_INFINITY };
  void client.connection.request(read('(cl:error "deeper")'), options).catch(() => undefined);
  return stopAt(client, thread, level);
}

/** What slime-tests.el asks of every client, under its names. */
describe("SwankClient in the scenarios of SLIME's tests:", () => {
  const image = liveClient();

  it("unwind-to-previous-level: from 4 to 3 to 2, one at a time", async () => {
    const { evaluation, stop } = await image.stopIn('(error "first")');
    for (let level = 2; level <= 4; level += 1) await climb(image.client, stop.thread, level);
    for (const level of [4, 3]) {
      const deepest = await stopAt(image.client, stop.thread, level);
      expect(deepest.restarts[0]?.description).to.match(
        new RegExp(`^Return to (?:sldb|sly-db) level ${level - 1}\\.$`),
      );
      await deepest.invokeRestart(0);
      await untilEnded(deepest);
    }
    expect(image.client.stops.map(({ level }) => level)).to.deep.equal([1, 2]);
    expect(stop.isLive).to.equal(true);
    aborted(await evaluation.abort());
  });

  for (const [interrupts, continues] of [
    [1, 0],
    [2, 1],
    [4, 2],
  ] as const)
    it(`interrupt-in-debugger: ${interrupts} interrupts, ${continues} continues`, async () => {
      const { evaluation, stop } = await image.stopIn('(error "first")');
      for (let level = 2; level <= interrupts + 1; level += 1) {
        image.client.connection.send({ type: "emacs-interrupt", thread: stop.thread });
        await stopAt(image.client, stop.thread, level);
      }
      for (let level = interrupts + 1; level > interrupts + 1 - continues; level -= 1) {
        const deepest = await stopAt(image.client, stop.thread, level);
        await deepest.continue();
        await untilEnded(deepest);
      }
      expect(image.client.stops).to.have.lengthOf(interrupts + 1 - continues);
      aborted(await evaluation.abort());
    });

  it("sbcl-world-lock: messages go out while the compiler holds its lock", async () => {
    const code = `(let ((*macroexpand-hook* (lambda (function form environment)
      (swank:flow-control-test 10 0) (funcall function form environment))))
      (eval '(macrolet ((number () 123)) (number))))`;
    expect(await image.values(code)).to.deep.equal(["123"]);
  });
});

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
  if (isBeyondSlynk("They ask for definitions in Swank.")) return;
  if (isBeyondSlynk("They ask for definitions in Swank.")) return;
  this.timeout(120_000);
  const image = liveClient();
  const folder = testFolder();

  const inPackage = (name: string) => image.client.lisp.with({ package: name });
  const definition = async (name: string, packageName: string) =>
    (await inPackage(packageName).run(calls.definitions.findDefinitionsForEmacs, name)).map(({ location }) =>
      found(location),
    );

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

  for (const [what, body] of [
    ["the call alone", "(cl-user::bar)"],
    ["after a character and a comment", "#\\space\n  ;;Sdf\n  (cl-user::bar)"],
    ["after skipped forms and nested comments", "#+(or)skipped\n  #| #||#\n  #||# |#\n  (cl-user::bar)"],
    ["after a string with quotes", '"\\" bla bla \\""\n  (cl-user::bar)'],
    ["after a form that is evaluated when it is read", "#.*log-events*\n  (cl-user::bar)"],
  ] as const)
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

/** What slime-repl-tests.el asks of every client. */
describe("SwankClient in the scenarios of SLIME's tests of the REPL:", () => {
  if (isBeyondSlynk("Its REPLs are channels.")) return;
  if (isBeyondSlynk("Its REPLs are channels.")) return;
  const image = liveImage();
  let lisp: SwankClient;
  let output: string;
  let results: string;
  let packages: string[];
  let reads: number;
  let input: string[];

  beforeEach(async () => {
    [output, results, packages, reads, input] = ["", "", [], 0, []];
    lisp = await image.connect({
      replyPolicy: (message) => {
        if (message.type !== "read-string") return undefined;
        reads += 1;
        const { thread, tag } = message;
        return { type: "emacs-return-string", thread, tag, text: input.shift() ?? "" };
      },
    });
    lisp.connection.on("event", (message) => {
      if (message.type === "new-package") packages.push(`${message.name} ${message.prompt}`);
      if (message.type !== "write-string") return;
      if (message.target !== keyword("repl-result")) output += message.text;
      else results += message.text;
    });
    await lisp.run(calls.repl.createRepl);
  });

  const listen = (code: string) => lisp.lisp.with({ package: "COMMON-LISP-USER" }).run(calls.repl.listenerEval, code);

  it("package-updating: a new package is announced with its prompt", async () => {
    await listen('(setq *package* (find-package "COMMON-LISP"))');
    expect(packages).to.deep.equal(["COMMON-LISP CL"]);
    await listen('(setq cl:*package* (find-package "COMMON-LISP-USER"))');
  });

  it("repl-test: output is separate from the value", async () => {
    await listen("(princ 10) (princ 20)");
    expect([output, results.trim()]).to.deep.equal(["1020", "20"]);
  });

  it("repl-read-lines: three lines answer three questions", async () => {
    input = ["a\n", "b\n", "c\n"];
    await listen("(list (read-line) (read-line) (read-line))");
    expect([reads, results.trim()]).to.deep.equal([3, '("a" "b" "c")']);
  });

  it("repl-test: without values, the result says so", async () => {
    await listen("(values)");
    expect(results.trim()).to.equal("; No value");
  });
});
