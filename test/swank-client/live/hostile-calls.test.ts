import { expect } from "chai";
import { print, read } from "sexp-parser";
import { connect, type SwankClient, SwankError, type types } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { killedClient } from "./killed-client.js";
import { liveImage } from "./live-image.js";
import { stopped } from "./outcomes.js";

/** It sleeps, so that these tests leave the processors to others. */
const ENDLESS = "(cl:loop (cl:sleep 0.01))";

/** An object whose printing does `body`. */
const printing = (body: string) => `
  (cl:progn
    (cl:defclass cl-user::hostile () ())
    (cl:defmethod cl:print-object ((object cl-user::hostile) stream) ${body})
    (cl:make-instance 'cl-user::hostile))`;

/** An error whose report does `body`. */
const reporting = (body: string) => `
  (cl:progn
    (cl:define-condition cl-user::hostile-report (cl:error) () (:report (cl:lambda (condition stream) ${body})))
    (cl:error 'cl-user::hostile-report))`;

/** An error whose printer does `body`. Swank prints the last condition of a request when it is unwound. */
const printingError = (body: string) => `
  (cl:progn
    (cl:define-condition cl-user::hostile-error (cl:error) ())
    (cl:defmethod cl:print-object ((error cl-user::hostile-error) stream) ${body})
    (cl:error 'cl-user::hostile-error))`;

const restartReporting = (body: string) => `
  (cl:restart-case (cl:error "x") (cl-user::go-on () :report (cl:lambda (stream) ${body}) 1))`;

const hooked = (body: string) => `
  (cl:let ((cl:*debugger-hook* (cl:lambda (condition hook) ${body}))) (cl:error "x"))`;

/** Forms, with the failure of a call that evaluates them. Those that never end by themselves have a timeout. */
const FORMS: readonly [what: string, form: string, code: types.SwankErrorCode][] = [
  ["a result whose printer loops", printing(ENDLESS), "REQUEST_TIMEOUT"],
  ["a result in a list whose printer sleeps", `(cl:list 1 ${printing("(cl:sleep 100000)")} 2)`, "REQUEST_TIMEOUT"],
  ["a result in a vector whose printer aborts", `(cl:vector ${printing("(cl:abort)")})`, "REQUEST_ABORTED"],
  ["a result whose printer ends the thread", printing("(sb-thread:abort-thread)"), "REQUEST_ABORTED"],
  ["a result whose printer reads", printing("(cl:read-line)"), "REQUEST_TIMEOUT"],
  ["a result whose printer breaks", printing("(cl:break)"), "UNREADABLE_MESSAGE"],
  ["a result whose printer fails", printing('(cl:error "no")'), "UNREADABLE_MESSAGE"],
  ["a result whose printer throws", printing("(cl:throw 'nowhere 1)"), "UNREADABLE_MESSAGE"],
  ["a result whose printer recurs", printing("(cl:labels ((f (n) (cl:1+ (f n)))) (f 1))"), "UNREADABLE_MESSAGE"],
  ["a result that is printed as nothing", printing("stream"), "UNREADABLE_MESSAGE"],
  ["a result that is printed as a parenthesis", printing('(cl:write-string ") (" stream)'), "UNREADABLE_MESSAGE"],
  ["a result that is printed as half a string", printing('(cl:write-char #\\" stream)'), "UNREADABLE_MESSAGE"],
  ["a result that is printed as a comment", printing('(cl:write-string "x ; y" stream)'), "UNREADABLE_MESSAGE"],
  ["a result that is printed without end", printing('(cl:loop (cl:princ "text" stream))'), "REPLY_TOO_LARGE"],
  ["a result of 20 MB", "(cl:make-string 20000000 :initial-element #\\a)", "REPLY_TOO_LARGE"],
  ["an error whose report loops", reporting(ENDLESS), "REQUEST_TIMEOUT"],
  ["an error whose report fails", reporting('(cl:error "no")'), "REQUEST_FAILED"],
  ["an error whose report aborts", reporting("(cl:abort)"), "REQUEST_TIMEOUT"],
  ["an error whose printer loops", printingError(ENDLESS), "REQUEST_TIMEOUT"],
  ["an error whose printer fails", printingError('(cl:error "no")'), "REQUEST_FAILED"],
  ["a restart whose report loops", restartReporting(ENDLESS), "REQUEST_TIMEOUT"],
  ["a restart whose report fails", restartReporting('(cl:error "no")'), "REQUEST_FAILED"],
  ["an error in the debugger hook", hooked('(cl:error "in the hook")'), "REQUEST_FAILED"],
  ["a debugger hook that aborts", hooked("(cl:abort)"), "REQUEST_ABORTED"],
  [
    "an error in a handler",
    '(cl:handler-bind ((cl:error (cl:lambda (e) (cl:error e)))) (cl:error "x"))',
    "REQUEST_FAILED",
  ],
  ["an error in a cleanup form", '(cl:unwind-protect (cl:error "x") (cl:error "y"))', "REQUEST_FAILED"],
  ["an endless cleanup form", `(cl:unwind-protect (cl:error "x") ${ENDLESS})`, "REQUEST_TIMEOUT"],
  ["a break", "(cl:break)", "REQUEST_FAILED"],
  ["the end of its thread", "(sb-thread:abort-thread)", "REQUEST_ABORTED"],
  ["an abort", "(cl:abort)", "REQUEST_ABORTED"],
  ["a throw to nowhere", "(cl:throw 'nowhere 1)", "REQUEST_FAILED"],
  ["a throw to the thread's end", "(cl:throw 'sb-impl::toplevel-catcher 1)", "REQUEST_ABORTED"],
  ["a stack that is exhausted", "(cl:labels ((f (n) (cl:1+ (f n)))) (f 1))", "REQUEST_FAILED"],
  ["a stack that is exhausted again", "(cl:labels ((f (n) (cl:1+ (f n)))) (f 2))", "REQUEST_FAILED"],
  ["an array that exhausts the heap", "(cl:make-array 10000000000)", "REQUEST_FAILED"],
  ["reading standard input", "(cl:read-line)", "REQUEST_TIMEOUT"],
  ["a question to the user", '(cl:y-or-n-p "Really?")', "REQUEST_TIMEOUT"],
  ["a call of Emacs", "(swank::eval-in-emacs '(point))", "REQUEST_FAILED"],
  ["a flood of output", "(cl:loop (cl:print 1))", "REQUEST_TIMEOUT"],
];

/** Milliseconds after which code that never ends by itself is ended. */
const TIMEOUT = 100;

const timeoutFor = (code: types.SwankErrorCode) => (code === "REQUEST_TIMEOUT" ? TIMEOUT : 60_000);

describe("SwankClient.call and run: code that misbehaves", function () {
  this.timeout(120_000);
  const image = liveImage();
  let client: SwankClient;
  const stops: number[] = [];

  /** Gives a suite one client: closing one takes longer than most of these tests. */
  function joining(runtime: boolean): void {
    before(async () => {
      client = await connect({ port: image.swank.port, runtime });
      client.on("stop", ({ level }) => stops.push(level));
      if (runtime) await client.prepare();
    });
    after(() => client.close());
  }

  /** The connection is alive, nothing is stopped, and no thread is left. */
  async function expectUnharmed(): Promise<void> {
    expect(await client.request(read("(cl:+ 1 2)"), { label: "sum" })).to.equal(3);
    expect([stops, client.stops]).to.deep.equal([[], []]);
    await image.untilTidy();
  }

  for (const runtime of [true, false])
    describe(runtime ? "with the runtime" : "without the runtime", () => {
      joining(runtime);

      // The guard of the connection ends them in both cases.
      for (const [what, form, code] of runtime ? FORMS : FORMS.filter((_, index) => index % 8 === 0))
        it(`costs only its own call: ${what}`, async () => {
          await rejection(client.request(read(form), { label: what, timeout: timeoutFor(code) }), code);
          await expectUnharmed();
        });
    });

  describe("in Swank's own functions", () => {
    joining(true);

    const FUNCTIONS: readonly [what: string, run: (code: string) => Promise<unknown>][] = [
      ["eval-and-grab-output", (code) => limited().run(calls.evaluation.evalAndGrabOutput, code)],
      ["interactive-eval", (code) => limited().run(calls.evaluation.interactiveEval, code)],
      ["pprint-eval", (code) => limited().run(calls.evaluation.pprintEval, code)],
      ["init-inspector", (code) => limited().run(calls.inspecting.initInspector, code)],
      [
        "listener-eval",
        (code) => client.run(calls.repl.createRepl).then(() => limited().run(calls.repl.listenerEval, code)),
      ],
      [
        "compile-string-for-emacs",
        (code) =>
          limited().run(calls.compiling.compileStringForEmacs, `(eval-when (:compile-toplevel) ${code})`, {
            buffer: "b",
          }),
      ],
    ];
    const CODES: readonly [what: string, code: string][] = [
      ["never ends", ENDLESS],
      ["ends its thread", "(sb-thread:abort-thread)"],
      ["aborts", "(abort)"],
      ["throws", "(throw 'nowhere 1)"],
      ["reports an error without end", reporting(ENDLESS)],
      ["gives an object whose printer loops", printing(ENDLESS)],
      ["gives an object whose printer breaks", printing("(cl:break)")],
    ];
    const limited = () => client.lisp.with({ timeout: TIMEOUT });

    for (const [index, [name, run]] of FUNCTIONS.entries()) {
      for (const [what, code] of index === 0 ? CODES : CODES.filter((_, number) => number % 3 === index % 3))
        it(`costs only its own call: ${name} of code that ${what}`, async () => {
          await run(code).catch((error: unknown) => expect(error).to.be.instanceOf(SwankError));
          await expectUnharmed();
          expect((await client.run(calls.evaluation.evalAndGrabOutput, "(+ 1 2)")).values).to.match(/^3\b/);
        });
    }

    if (!isBeyondSlynk("Its REPLs are channels."))
      it("leaves a REPL whose code never ended ready for the next code", async () => {
        await client.run(calls.repl.createRepl);
        for (const code of [ENDLESS, reporting(ENDLESS), "(abort)"]) {
          await limited()
            .run(calls.repl.listenerEval, code)
            .catch((error: unknown) => expect(error).to.be.instanceOf(SwankError));
          const results: string[] = [];
          client.connection.on("event", (event) => {
            if (event.type === "write-string") results.push(event.text);
          });
          await client.run(calls.repl.listenerEval, "(+ 1 2)");
          expect(results.join("")).to.match(/^3\s/);
        }
      });
  });

  it("ends with its client, whatever it was doing", async () => {
    const endless = FORMS.filter(([, , code]) => code === "REQUEST_TIMEOUT").map(([, form]) => form);
    // Forms that define one printer at the same time can meet the moment without any, and then they end.
    await killedClient(
      `const { read } = await import("sexp-parser");
      for (const form of ${JSON.stringify(endless)})
        client.request(read(form), { label: "endless" }).catch(() => undefined);
      await client.request(read("(cl:sleep 1)"), { label: "pause" });
      tell("running");`,
      { port: image.swank.port },
    );
    await image.untilTidy();
    expect(await image.ask("(cl:+ 1 2)")).to.equal("3");
  });

  describe("in the thread of a stop", () => {
    joining(true);

    it("leaves the stop as it was", async () => {
      const evaluation = client.evaluate('(restart-case (error "x") (give () :given))');
      const { stop } = stopped(await evaluation.next());
      stops.length = 0;
      // The evaluation's streams answer reads with the end of file.
      for (const [what, form, code] of FORMS.filter(([what]) => !what.includes("thread"))) {
        const call = client.request(read(form), { label: what, thread: stop.thread, timeout: timeoutFor(code) });
        const error = await call.catch((error: unknown) => error);
        expect([what, error]).to.have.nested.property("[1]").that.is.instanceOf(SwankError);
        expect([what, stop.isLive, client.stops.length, stops]).to.deep.equal([what, true, 1, []]);
        const listed = await stop.frames().catch((error: unknown) => String(error));
        expect([what, listed]).to.have.nested.property("[1].frames").that.is.not.empty;
      }
      await stop.invokeRestart(stop.restarts.findIndex(({ name }) => name === "GIVE"));
      expect(await evaluation.next()).to.deep.include({ status: "returned", values: [":GIVEN"] });
    });

    it("gives objects as the text that their printers write", async () => {
      const form = `(cl:list ${printing('(cl:princ "#<me>" stream)')} (cl:vector cl:*package*))`;
      expect(print(await client.request(read(form), { label: "objects" }))).to.equal(
        '(#<me> #(#<common-lisp:package "COMMON-LISP-USER">))',
      );
    });
  });
});
