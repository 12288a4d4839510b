import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { standardPlaces } from "#swank-mcp/report/hyperspec.js";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { described as describedBy, expectSymbolExamples } from "../../support/contract-examples.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("describe-symbol and list-definitions", () => {
  const server = liveServer();

  const described = (name: string, packageName?: string) => describedBy(server, name, packageName);

  it("return the contract's examples", () => expectSymbolExamples(server));

  it("include definitions by evaluated code, with their source", async () => {
    await server.evaluate(
      '(defpackage :ls-app (:use :cl)) (defvar ls-app::*limit* (list 1 2)) (defun ls-app::run (x &key (y #\\z)) "Runs.\n\nReally." (list x y))',
    );
    const [text, hints] = await described("ls-app::run");
    expect(text).to.match(
      /^LS-APP::RUN \[FUNCTION\]\n {2}Arglist: \(X &KEY \(Y #\\z\)\)\n {2}Documentation:\n {4}Runs\.\n\n {4}Really\.\n {2}Source: evaluation \d+:\d+$/,
    );
    expect(hints).to.equal(
      'Defined by evaluated code:\n(defun ls-app::run (x &key (y #\\z)) "Runs.\n\nReally." (list x y))',
    );
    expect((await described("ls-app:run"))[1]).to.match(/^The symbol is not exported: code must write LS-APP::RUN\.\n/);
    expect((await described("*limit*", ":ls-app"))[0]).to.match(
      /^LS-APP::\*LIMIT\* \[VARIABLE\]\n {2}Value: \(1 2\)\n/,
    );
    const [missing, elsewhere] = await described("run");
    expect(missing).to.equal("Symbol RUN not found in package CL-USER (status: NIL)");
    expect(elsewhere).to.match(/^In other packages: LS-APP::RUN, SB-THREAD::RUN, (SB-KERNEL::RUN, )?SWANK\/SBCL::RUN$/);
    expect((await described("ls-ap:run"))[1]).to.equal("Packages with similar names: LS-APP");
  });

  it("name the places in the HyperSpec of standard names, directives of FORMAT and reader macros", async () => {
    const at = async (name: string) =>
      (await described(name)).at(1)?.replaceAll("http://www.lispworks.com/documentation/HyperSpec/Body/", "");
    expect(await at("with-open-file")).to.include("HyperSpec: m_w_open.htm");
    expect(await at("&optional")).to.include("HyperSpec, section 3.4.1: 03_da.htm");
    for (const [name, places] of [
      ["~R", "format directive ~R, Radix, section 22.3.2.1: 22_cba.htm"],
      ["~:@(", "format directive ~(, Case Conversion, section 22.3.8.1: 22_cha.htm"],
      ["~v,'0d", "format directive ~D, Decimal, section 22.3.2.2: 22_cbb.htm"],
      ["~/my-app:show/", "format directive ~/, Call Function, section 22.3.5.4: 22_ced.htm"],
      ["#'", "reader macro #', section 2.4.8.2: 02_dhb.htm"],
      ["#2A", "reader macro #A, section 2.4.8.12: 02_dhl.htm"],
      [",@", "reader macro ,, section 2.4.7: 02_dg.htm"],
      ['"', 'reader macro ", section 2.4.5: 02_de.htm'],
    ] as const) {
      expect((await described(name))[0]).to.match(
        /^Symbol .* not found in package CL-USER \(status: NIL\)$|^Package .* not found$/,
      );
      expect(await at(name), name).to.equal(`HyperSpec, ${places}`);
    }
    expect(await at("~<")).to.match(
      /Logical Block, ended by ~:>, section 22\.3\.5\.2: .*\n.*Justification, section 22\.3\.6\.2: /,
    );
    await server.evaluate("(defun hs-own () 1)");
    expect(await at("hs-own")).to.not.include("HyperSpec");
    expect(await at("~y")).to.equal(undefined);
    const { _meta } = await server.call("describe-symbol", { name: "~R" });
    expect(_meta?.["swank-mcp/symbol"]).to.containSubset({ hyperspec: [{ section: "22.3.2.1" }] });
    // every standard name has a page
    const code =
      '(let ((names ())) (do-external-symbols (s :cl) (push (string s) names)) (format t "~{~a~^ ~}" names))';
    const printed = await server.call("evaluate-lisp", { code, "max-output": 50_000 });
    const standard = (/^\[stdout\]\n(.*)$/m.exec(blocks(printed)[0] ?? "")?.[1] ?? "").split(" ");
    expect(standard.length).to.equal(978);
    expect(standard.filter((name) => standardPlaces(`COMMON-LISP::${name}`).length === 0)).to.deep.equal([]);
  });

  it("include the description as data", async () => {
    await server.evaluate("(defvar *ls-data* (loop for i below 21 collect i))");
    const { _meta } = await server.call("describe-symbol", { name: "*ls-data*" });
    expect(_meta?.["swank-mcp/symbol"]).to.containSubset({
      status: "found",
      name: "COMMON-LISP-USER::*LS-DATA*",
      meanings: [{ kind: "variable", value: { left_out: "20 of 21 elements shown" }, source: { kind: "evaluation" } }],
    });
  });
});

/** A part of SBCL's manual, as Info's files have it. */
const MANUAL = {
  "sbcl.info": `This is sbcl.info

     This manual, for SBCL version 2.2.9.debian, is part of the SBCL
     software system.

\x1f
Indirect:
sbcl.info-1: 691
`,
  "sbcl.info-1": `\x1f
File: sbcl.info,  Node: Unwinding,  Next: At Exit,  Up: Exit

 -- Function: exit &key code abort timeout
     Terminates the process

\x1f
File: sbcl.info,  Node: Exiting Commands,  Up: Debugger Commands

 -- Debugger Command: timeout
 -- Function: restrict-compiler-policy &optional quality min max

\x1f
File: sbcl.info,  Node: Policy,  Up: Debugger Commands

 -- Function: restrict-compiler-policy &optional quality min max
`,
};

describe("describe-symbol where SBCL's manual is installed", () => {
  const folder = liveFolder("sbcl manual");
  let server: McpStdio;
  before(async () => {
    await writeFile(join(folder, "sbcl.info"), MANUAL["sbcl.info"]);
    await writeFile(join(folder, "sbcl.info-1.gz"), gzipSync(MANUAL["sbcl.info-1"]));
    server = await McpStdio.start([], { INFOPATH: folder });
  });
  after(() => server.close());

  it("names the section about a symbol of SBCL, if there is one", async () => {
    const hints = async (name: string) => blocks(await server.call("describe-symbol", { name }))[1] ?? "";
    expect(await hints("sb-ext:exit")).to.match(/^Manual of SBCL 2\.2\.9\.debian: section "Unwinding"$/m);
    // a command of the debugger is no condition; two sections may be about different things
    for (const name of ["sb-ext:timeout", "sb-ext:restrict-compiler-policy", "sb-impl::exit", "cl:car"])
      expect(await hints(name), name).to.not.include("Manual");
  });
});

describe("reset-session on a launched image", () => {
  const server = liveServer({ each: true });

  it("needs no image and launches none", async () => {
    expect(blocks(await server.call("reset-session"))).to.deep.equal(["Session reset. No image was in use."]);
  });

  it("replaces the image with all its definitions", async () => {
    await server.evaluate('(defpackage :rs-app (:use :cl)) (in-package :rs-app) (defun f () 1) (load "/dev/null")');
    await server.evaluate("(car 7)");
    const pid = await server.imagePid();
    expect(blocks(await server.call("list-definitions"))[0]).to.equal(
      "[functions]\nRS-APP::F\n\n[packages]\nRS-APP\n\n[files]\n/dev/null",
    );
    const answer = blocks(await server.call("reset-session"));
    const now = await server.imagePid();
    expect(now).to.not.equal(pid);
    expect(answer).to.deep.equal([
      `Session reset. A fresh image (pid ${now}) has replaced the old one.\n\n[loaded in the old image]\n/dev/null\n\n[only in the old image]\npackage RS-APP\nfunction RS-APP::F`,
      "reset-session with restore true evaluates these definitions again, until the next reset.",
    ]);
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    expect(blocks(await server.call("get-backtrace"))).to.deep.equal([NO_ERROR]);
    expect(blocks(await server.call("list-definitions"))).to.deep.equal(["No definitions in session."]);
    expect((await server.call("lisp-status")).structuredContent).to.include({ package: "COMMON-LISP-USER" });
    expect(await server.evaluate('(list * (find-package "RS-APP"))')).to.deep.equal(["=> (NIL NIL)"]);
    expect(() => process.kill(pid, 0)).to.throw("ESRCH");
  });

  it("ends running and stopped evaluations without a last error", async () => {
    await server.evaluate('(error "stopped")');
    const running = server.startCall("evaluate-lisp", { code: "(progn (print 1) (loop))" });
    await server.progressOf(running);
    const stubborn = server.startCall("evaluate-lisp", { code: "(sb-sys:without-interrupts (loop (sleep 0.01)))" });
    const answer = await server.call("reset-session");
    expect(answer.isError).to.equal(false);
    for (const { result } of [running, stubborn]) {
      const ended = await result;
      expect(blocks(ended)[0]).to.match(/; Evaluation aborted: the session was reset$/);
      expect(ended.isError).to.equal(false);
    }
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    expect((await server.call("lisp-status")).structuredContent).to.deep.include({ stopped: [] });
  });

  it("replaces the image once for simultaneous calls, and answers evaluations in between", async () => {
    await server.evaluate("(defvar *rs-old* 1)");
    const pid = await server.imagePid();
    const resets = [server.call("reset-session"), server.call("reset-session")];
    const evaluated = server.evaluate("(boundp '*rs-old*)");
    const [first, second] = (await Promise.all(resets)).map((result) => blocks(result).join("\n"));
    const now = await server.imagePid();
    expect(now).to.not.equal(pid);
    for (const answer of [first, second])
      expect(answer).to.satisfy((text: string) =>
        text.startsWith(`Session reset. A fresh image (pid ${now}) has replaced the old one.`),
      );
    expect((await evaluated)[0]).to.be.oneOf([
      "=> NIL",
      "=> T",
      "; Evaluation aborted: the session was reset",
      "The session was reset while the call ran; its effects are gone.\nCall again if it is still wanted.",
    ]);
    expect(await server.evaluate("(boundp '*rs-old*)")).to.deep.equal(["=> NIL"]);
  });
});
