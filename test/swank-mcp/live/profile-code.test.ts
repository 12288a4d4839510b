import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";

const PROGRAM = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defun key-of (n) (let ((keys '())) (dotimes (i n keys) (setf keys (append keys (list i))))))
(defun order (n) (length (key-of n)))
(defun orders (count) (loop repeat count sum (order 300)))
(defun unused () 1)
(declaim (inline near)) (defun near (x) x)
(defun fill-lists (n) (loop repeat n collect (make-array 1000)))
(defun spin (seconds) (let ((end (+ (get-internal-real-time) (* seconds internal-time-units-per-second)))) (loop while (< (get-internal-real-time) end))))
(in-package :cl-user)`;

/** The text without times and amounts. */
const timeless = (text: string) =>
  text
    .replace(/ *\b\d+(?:\.\d+)? (?:ms|µs|us|s)\b/g, " <time>")
    .replace(/\b\d+(?:[.,]\d+)* (?:bytes|[kMG]B)\b/g, "<size>")
    .replace(/ \(\d+(?:\.\d+)? ?%\)/g, "");

describe("profile-code", function () {
  this.timeout(180_000);
  const server = liveServer({ code: PROGRAM });

  const profiled = async (args: object) => blocks(await server.call("profile-code", args)).join("\n--\n");

  it("counts calls exactly, and says what was not called and what it misses", async () => {
    expectFacts(
      timeless(await profiled({ code: "(shop::orders 120)", mode: "calls", package: "shop" })),
      "241 calls of 7 functions; 4 were not called. <time> real, <time> processor, <time> GC, <size> allocated. Counting took about",
      "=> 36000\n     calls        self      cumul.  function\n       120 <time> <time>  SHOP::KEY-OF\n       120 <time> <time>  SHOP::ORDER\n         1 <time> <time>  SHOP::ORDERS\nSHOP::NEAR: It is declared inline",
    );
    const functions = ["shop::unused"];
    expectFacts(
      timeless(await profiled({ code: "(list 1)", mode: "calls", functions })),
      "No call of 1 function.",
      "=> (1)",
    );
  });

  it("records definitions in the code as those of the session", async () => {
    await profiled({ code: "(defvar *profiled* 1) (defun profiled (x) (* x 2)) (profiled 3)" });
    const changes = blocks(await server.call("list-changes", { text: false })).join("\n");
    expect(changes)
      .to.match(/^function \S*PROFILED/m)
      .and.not.include("not from this session");
    expect(blocks(await server.call("show-source", { name: "profiled" })).join("\n")).to.include(
      "(defun profiled (x) (* x 2))",
    );
    expect(blocks(await server.call("list-definitions", {})).join("\n")).to.include("PROFILED");
  });

  it("shows where the time goes, and the hottest path", async () => {
    const text = await profiled({ code: "(shop::orders 2000)" });
    expect(text).to.match(/^Processor time: \d+ samples?, one each 4 ms of processor time\. /);
    expect(text).to.match(/^Hottest path: SHOP::ORDERS [\d.]+ ?% > SHOP::ORDER [\d.]+ ?% > SHOP::KEY-OF/m);
    expect(text).to.include("Switching on and off took ");
  });

  it("shows where memory is allocated, in the functions of a package", async () => {
    const text = await profiled({ code: "(length (shop::fill-lists 20000))", mode: "alloc", package: "shop" });
    expect(text)
      .to.match(/^Allocation: [\d,]+ samples/)
      .and.match(/ SHOP::FILL-LISTS$/m);
  });

  it("compares code with other code", async () => {
    const text = await profiled({
      code: "(shop::spin 0.01)",
      against: "(shop::spin 0.1)",
      mode: "calls",
      package: "shop",
    });
    expect(text).to.match(/^ *code is (?!0\.|1\.)\d+\.\d+ times as fast as against\.$/m);
  });

  it("refuses what it cannot count, with what to do", async () => {
    expect(await profiled({ code: "1", mode: "calls" })).to.include(
      "Name functions, or the package whose functions are counted.",
    );
    expect(await profiled({ code: "1", functions: ["shop::order"] })).to.include('Set the mode to "calls"');
    expect(await profiled({ code: "1", mode: "calls", functions: ["shop::ordr"] })).to.include("Similar: SHOP::ORDER");
    expect(await profiled({ code: "1", mode: "calls", package: "cl" })).to.include("Name a package of the program");
  });
});

describe("profile-code in the mode time", () => {
  const server = liveServer({ code: "(defvar *runs* 0)" });
  const timed = (args: Record<string, unknown>) => server.call("profile-code", { mode: "time", ...args });

  it("times code against other code in turn, with medians, spread, bytes, and how many times as fast it is", async () => {
    const result = await timed({ code: "(progn (sleep 0.001) (list 1 2))", against: "(sleep 0.02)" });
    expect(blocks(result)[0]).to.match(
      /^Time of one run, medians of \d+ rounds in turn without a profiler:\n {2}code: {4}\S+ ms \(half between \S+ ms and \S+ ms, \d+ runs a round\), \S+ [nu]s GC on average, .* allocated\n {2}against: \S+ ms \(.*\n {2}code is [\d.]+ times as fast as against, half of the rounds between [\d.]+ and [\d.]+\.\n=> \(1 2\)$/,
    );
    expect(result._meta).to.have.nested.property("swank-mcp/profile.ratio.low").that.is.greaterThan(1);
    expect(blocks(await timed({ code: "(sleep 0.02)", against: "(sleep 0.001)" }))[0]).to.match(/\n {2}against is /);
  });

  it("tells no difference where there is none, and repeats code that takes less than the clock can see", async () => {
    const [text = ""] = blocks(await timed({ code: "(incf *runs*)", against: "(incf *runs*)" }));
    expect(text).to.match(/code: .* runs a round\)/);
    expect(Number((await server.evaluate("*runs*"))[0]?.slice(3))).to.be.greaterThan(10_000);
    expect(blocks(await timed({ code: "(sleep 0.005)", against: "(sleep 0.005)" }))[0]).to.match(
      /No difference that can be told|is 1\.\d\d times as fast/,
    );
  });

  it("leaves an error in the code stopped", async () => {
    expect(blocks(await timed({ code: '(error "timed")' }))[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\ntimed\n/);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
  });

  for (const args of [
    { seconds: 1 },
    { code: "1", functions: ["car"] },
    { code: "1", package: "cl-user" },
    { code: "(1" },
  ])
    it(`refuses ${JSON.stringify(args)}`, async () => {
      expect(refusalType(await timed(args))).to.match(/^INVALID_ARGUMENTS?$/);
    });
});
