import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";

const CODE = `
(defvar *lock* (sb-thread:make-mutex :name "monitor"))
(defvar *queue* (sb-thread:make-waitqueue :name "orders"))
(defvar *holder* (sb-thread:make-thread (lambda () (sb-thread:with-mutex (*lock*) (sleep 600))) :name "worker"))
(defun take-lock () (sb-thread:with-mutex (*lock*) 1))
(defun take-order (&aux (own (sb-thread:make-mutex)))
  (sb-thread:with-mutex (own) (sb-thread:condition-wait *queue* own)))
(defun pause () (list (sleep 600)))
(defun finish () (list (sb-thread:join-thread *holder*)))
(defun permit () (list (sb-thread:wait-on-semaphore (sb-thread:make-semaphore :name "permits"))))
(defun spin () (loop))`;

/** The first line of the message after code was interrupted, by the code. */
const WAITS: readonly (readonly [code: string, line: RegExp])[] = [
  [
    "(take-lock)",
    /^The thread was waiting for MUTEX "monitor", held by thread \d+ "worker", in frame \d+: \(TAKE-LOCK\)$/,
  ],
  ["(take-order)", /^The thread was in CONDITION-WAIT on WAITQUEUE "orders", in frame \d+: .*TAKE-ORDER.*$/],
  ["(pause)", /^The thread was sleeping, in frame \d+: \(PAUSE\)$/],
  ["(finish)", /^The thread was waiting for the end of thread \d+ "worker", in frame \d+: \(FINISH\)$/],
  ["(permit)", /^The thread was waiting for SEMAPHORE "permits", in frame \d+: \(PERMIT\)$/],
  ["(spin)", /^The evaluation gave no value within 0\.3 s\. /],
];

describe("A report of an interrupted wait", () => {
  let lisp: McpDebugger;

  before(async () => {
    lisp = await McpDebugger.start();
    await lisp.evaluate(CODE);
    await lisp.evaluate("(loop until (sb-thread:mutex-owner *lock*) do (sleep 0.01))");
  });
  after(async () => {
    await lisp.evaluate("(sb-thread:terminate-thread *holder*)");
    await lisp.close();
  });
  afterEach(() => lisp.abortAll());

  for (const [code, line] of WAITS)
    it(`says first what ${code} waits for`, async () => {
      const [report = ""] = await lisp.evaluate(code, { timeout: 0.3 });
      expect(report.split("\n")[0]).to.equal("[TIMEOUT] TIMEOUT");
      expect(report.split("\n")[1]).to.match(line);
    });
});

describe("Kinds of frames", () => {
  let lisp: McpDebugger;

  before(async () => {
    lisp = await McpDebugger.start();
  });
  after(() => lisp.close());
  afterEach(() => lisp.abortAll());

  it("are the same on every page", async () => {
    await lisp.evaluate('(defun deep (n) (if (= n 0) (error "bottom") (1+ (deep (1- n)))))');
    await lisp.evaluate("(deep 30)");
    const { frames, total_frames: total, internal_left_out: left } = await lisp.frames({ end: 100 });
    expect(frames.map(({ call }) => call)).to.deep.equal(Array.from({ length: 31 }, (_, n) => `(DEEP ${n})`));
    expect(left).to.equal(total - 31);
    const pages = await Promise.all([0, 7, 25].map((start) => lisp.frames({ start, end: start + 5 })));
    for (const page of pages) {
      expect(page.frames.length + (page.internal_left_out ?? 0) + (page.outside_page ?? 0)).to.equal(total);
      const indexes = page.frames.map(({ index }) => index);
      expect(frames.map(({ index }) => index)).to.include.members(indexes);
    }
  });

  it("tell Lisp's frames of a thread that code started from the user's", async () => {
    await lisp.evaluate('(defun work () (list (error "in a thread"))) (sb-thread:make-thread #\'work)');
    while ((await lisp.stops()).length === 0) await lisp.evaluate("(sleep 0.05)");
    const [thread = ""] = await lisp.stops();
    const { frames } = await lisp.frames({ thread });
    expect(frames.map(({ call }) => call)).to.deep.equal(["(WORK)"]);
  });

  it("of three frames with variables take at most 1.2 kB", async () => {
    await lisp.evaluate(`(defun price (item rate) (let ((base (getf item :price))) (* base (car rate))))
      (defun total (items rate) (let ((sum 0)) (dolist (item items sum) (incf sum (price item rate)))))
      (defun bill (items) (let ((rate 2)) (list :total (total items rate))))`);
    await lisp.evaluate("(bill '((:name a :price 10) (:name b :price 20)))");
    const answer = await lisp.json("debugger_frames", {});
    expect(answer["frames"]).to.have.lengthOf(3);
    expect(JSON.stringify(answer).length).to.be.at.most(1200);
  });
});
