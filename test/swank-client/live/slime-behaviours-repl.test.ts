import { expect } from "chai";
import { keyword } from "sexp-parser";
import type { SwankClient } from "swank-client";
import * as calls from "swank-client/swank";
import { liveImage } from "./live-image.js";

/** What slime-repl-tests.el asks of every client. */
describe("SwankClient in the scenarios of SLIME's tests of the REPL:", () => {
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
