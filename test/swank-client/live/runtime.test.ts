import { tmpdir } from "node:os";
import { expect } from "chai";
import { print, read } from "sexp-parser";
import { freshImage, liveImage } from "./live-image.js";
import { evaluate, values } from "./outcomes.js";

const OURS = `(cl:sort (cl:remove-if-not (cl:lambda (name) (cl:search "SWANK-" name))
  (cl:mapcar 'cl:package-name (cl:list-all-packages))) 'cl:string<)`;

/** From now on every text that is loaded is compiled as one file, so that forward references count for nothing, and warnings are kept. */
const COMPILE_AS_FILES = `(cl:progn
  (cl:defvar cl-user::*compiled* 0)
  (cl:defvar cl-user::*heard* '())
  (sb-int:encapsulate 'cl:load 'cl-user::compile-as-file
    (cl:lambda (load source cl:&rest options)
      (cl:if (cl:not (cl:typep source 'cl:string-stream))
        (cl:apply load source options)
        (cl:let ((file (cl:format nil "~a/swank-client-~d.lisp" ${print(tmpdir())} (sb-posix:getpid))))
          (cl:with-open-file (out file :direction :output :if-exists :supersede :external-format :utf-8)
            (cl:loop :for line := (cl:read-line source nil) :while line :do (cl:write-line line out)))
          (cl:incf cl-user::*compiled*)
          (cl:let ((compiled (cl:handler-bind ((cl:warning (cl:lambda (warning) (cl:push (cl:princ-to-string warning) cl-user::*heard*))))
                               (cl:compile-file file :external-format :utf-8))))
            (cl:unwind-protect (cl:funcall load compiled)
              (cl:delete-file file)
              (cl:delete-file compiled)))))))
  nil)`;

/** As SBCL 2.2.9 does when another thread compiles meanwhile: putting a function around another, or taking it away, fails at first. */
const FAIL_AT_FIRST = `(cl:let ((tries (cl:make-hash-table :test 'cl:equal)))
  (cl:dolist (change '(sb-int:unencapsulate sb-int:encapsulate))
    (cl:let ((change change))
      (sb-int:encapsulate change 'cl-user::fail-at-first
        (cl:lambda (next name cl:&rest arguments)
          (cl:when (cl:< (cl:incf (cl:gethash (cl:list change name) tries 0)) 3)
            (sb-sys:without-interrupts (sb-int:bug "failed AVER: (SAP= START END)")))
          (cl:apply next name arguments)))))
  nil)`;

const NAMES = "'(sb-ext:finalize sb-thread:make-thread sb-thread:interrupt-thread)";

/** Whether SBCL calls each by address, in an SBCL that has such calls. */
const CALLED_DIRECTLY = `(cl:let ((called-p (cl:find-symbol "FDEFN-HAS-STATIC-CALLERS" "SB-VM")))
  (cl:and called-p (cl:mapcar (cl:lambda (name) (cl:funcall called-p (sb-int:find-fdefn name))) ${NAMES})))`;

/** Whether each has a function around it. */
const AROUND = `(cl:mapcar (cl:lambda (name) (cl:not (cl:null (sb-impl::encapsulation-info (cl:symbol-function name))))) ${NAMES})`;

describe("Runtime in the image", () => {
  const image = liveImage();

  it("is absent before it is needed, and always if it is disabled", async () => {
    const before = await image.ask(OURS);
    // DO-SYMBOLS may meet a symbol twice
    const symbols =
      "(cl:let ((found (cl:make-hash-table))) (cl:do-symbols (symbol :cl-user) (cl:setf (cl:gethash symbol found) cl:t)) (cl:hash-table-count found))";
    const plain = await image.connect({ runtime: false });
    const evaluation = plain.evaluate("(print 1)");
    const error = await evaluation.next().catch((reason: unknown) => reason);
    expect(error).to.include({ code: "RUNTIME_FORBIDDEN" });
    expect(await evaluation.interrupt()).to.equal(false);
    expect(await evaluation.abort().catch((reason: unknown) => reason)).to.equal(error);
    expect(await plain.prepare().catch((reason: unknown) => reason)).to.include({ code: "RUNTIME_FORBIDDEN" });
    const willing = await image.connect({ cacheDir: false });
    await willing.request(read("(swank:connection-info)"), { label: "a command" });
    expect(await image.ask(OURS)).to.equal(before);
    const count = await image.ask(symbols);
    await values(willing, "1");
    expect(await image.ask(OURS)).not.to.equal(before);
    expect(await image.ask(symbols)).to.equal(count);
  });

  it("is loaded once by clients that need it at the same time", async () => {
    const clients = await Promise.all([...Array(4).keys()].map(() => image.connect()));
    const results = await Promise.all(
      clients.flatMap((client) => [values(client, "(+ 1 2)"), values(client, "(+ 2 2)")]),
    );
    expect(results.flat()).to.deep.equal(clients.flatMap(() => ["3", "4"]));
    expect((await image.ask(OURS)).match(/SWANK-CLIENT\/EVALUATE/g)).to.have.lengthOf(1);
  });

  it("prints nothing while it is being loaded", async () => {
    const client = await image.connect();
    expect(await evaluate(client, "1")).to.include({ stdout: "", stderr: "" });
  });

  it("leaves mailboxes bounded after a thousand requests that are no evaluations", async () => {
    const client = await image.connect();
    for (let round = 0; round < 1000; round += 1) await client.request(read("(cl:+ 1 2)"), { label: "sum" });
    expect(Number(await image.ask("(cl:length swank/sbcl::*mailboxes*)"))).to.be.below(60);
  });

  it("leaves mailboxes and evaluations bounded after a thousand evaluations", async () => {
    const client = await image.connect();
    for (let round = 0; round < 10; round += 1)
      await Promise.all([...Array(100).keys()].map((n) => values(client, String(n))));
    expect(Number(await image.ask("(cl:length swank/sbcl::*mailboxes*)"))).to.be.below(250);
  });

  it("leaves no thread running when idle", async () => {
    const client = await image.connect();
    await values(client, '(princ "x")');
    const names =
      "(cl:count \"swank-client output\" (cl:mapcar 'sb-thread:thread-name (sb-thread:list-all-threads)) :test 'cl:equal)";
    while ((await image.ask(names)) !== "0") await new Promise((resolve) => setTimeout(resolve, 100));
  });
});

describe("Runtime in an image of its own", () => {
  const image = freshImage();

  it("compiles without warnings", async () => {
    await image.ask(COMPILE_AS_FILES);
    const client = await image.connect({ cacheDir: false });
    await values(client, "1");
    await client.breakpoints.list();
    await client.definitions();
    await client.describeSymbol("car");
    expect(await image.ask("(cl:list (cl:< 50 cl-user::*compiled*) cl-user::*heard*)")).to.equal("(T NIL)");
  });

  it("encapsulates Lisp's functions and uninstalls itself even if that fails at first", async () => {
    await image.ask(FAIL_AT_FIRST);
    const client = await image.connect({ foreignErrors: "mine", mayEndImage: false });
    expect(await values(client, "(defun f () 7)")).to.deep.equal(["F"]);
    await client.breakpoints.set("f");
    expect((await evaluate(client, "(f)")).status).to.equal("stopped");
    expect((await evaluate(client, "(sb-ext:exit)")).status).to.equal("stopped");
    await client.close();
    expect(await image.ask("(cl-user::f)")).to.equal("7");
  });

  it("leaves calls by address in SBCL's own code as they are", async () => {
    const before = await image.ask(CALLED_DIRECTLY);
    const client = await image.connect();
    expect((await values(client, AROUND))[0]).to.equal("(T T T)");
    await client.close();
    while ((await image.ask(AROUND)) !== "(NIL NIL NIL)") await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await image.ask(CALLED_DIRECTLY)).to.equal(before);
  });
});
