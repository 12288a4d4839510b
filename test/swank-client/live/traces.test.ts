import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { killedClient } from "./killed-client.js";
import { liveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { values } from "./outcomes.js";

/** How many layers each of the functions has around it. */
function layers(...names: readonly string[]): string {
  return `(cl:loop :for name :in '(${names.join(" ")})
    :collect (cl:loop :for function := (sb-kernel:%coerce-name-to-fun name) :then (sb-impl::encapsulation-info-definition info)
                      :for info := (sb-impl::encapsulation-info function)
                      :while info :count cl:t))`;
}

/** Threads that end by themselves: workers, which are looked for after every test, and a thread of each new connection, which lives for 10 ms. */
const PASSING = `'("worker" "swank-client connection")`;

/** What a client changes in the image for as long as it is there. */
const TRACES = `(cl:list (cl:length swank::*connections*) (cl:length swank::*connection-closed-hook*) (cl:length sb-ext:*exit-hooks*)
  (cl:sort (cl:set-difference (cl:mapcar 'sb-thread:thread-name (sb-thread:list-all-threads)) ${PASSING} :test 'cl:string=) 'cl:string<)
  (cl:length swank::*new-connection-hook*)
  ${layers("swank::close-connection%", "swank::default-connection", "swank::invoke-default-debugger", "sb-thread:make-thread", "sb-ext:exit")})`;

const STOPPED = `(cl:count-if (cl:lambda (thread) (cl:plusp (cl:or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread cl:nil) 0)))
  (sb-thread:list-all-threads))`;

/** Part of a client's program: has a thread fail that runs no code of any client's. */
const FAIL_ELSEWHERE = `
  await client.evaluate("(defvar cl-user::*elsewhere* nil)").next();
  const failing = (await import("sexp-parser")).read('(cl:progn (cl:setf cl-user::*elsewhere* (sb-thread:make-thread (cl:lambda () (cl:restart-case (cl:error "elsewhere") (cl-user::give (cl-user::x) cl-user::x))))) cl:nil)');
  await client.request(failing, { label: "failing elsewhere" });`;

/** Milliseconds for a client's traces to disappear. */
const PATIENCE = 20_000;

describe("A killed client", () => {
  const image = liveImage();

  /** Waits until the image is as it was. */
  async function untilAsBefore(before: string): Promise<void> {
    const end = performance.now() + PATIENCE;
    let now = await image.ask(TRACES);
    while (now !== before && performance.now() < end) {
      await pause(20);
      now = await image.ask(TRACES);
    }
    expect(now).to.equal(before);
  }

  const killed = (program: string, options = {}) => killedClient(program, { port: image.swank.port, ...options });

  it("leaves no hook and no encapsulation if it was the last", async () => {
    const before = await image.ask(TRACES);
    const hadExitHook = "(cl:length sb-ext:*exit-hooks*)";
    await killed('await client.evaluate("1").next(); tell("ready");');
    await untilAsBefore(before);
    const other = await image.connect();
    await values(other, "1");
    expect(await image.ask(hadExitHook)).to.not.equal("0");
    await other.close();
    await untilAsBefore(before);
  });

  it("leaves no breakpoint, and no other client's thread stopped at one", async () => {
    const other = await image.connect();
    await values(other, "(defvar *calls* 0) (defun tr-work () (incf *calls*)) (defvar *done* nil)");
    await killed(`
      await client.breakpoints.set("tr-work", { thread: "any" });
      client.on("stop", () => tell("stopped"));
      await client.evaluate("(progn (sb-thread:make-thread (lambda () (cl-user::tr-work) (setf cl-user::*done* t))) nil)").next();`);
    while ((await image.ask("cl-user::*done*")) !== "T") await pause(20);
    expect(await image.ask(layers("cl-user::tr-work"))).to.equal("(0)");
    expect(await values(other, "(progn (tr-work) *calls*)")).to.deep.equal(["2"]);
  });

  it("leaves no other client's thread stopped at a step", async () => {
    const other = await image.connect();
    await values(
      other,
      "(defvar *stepped* nil) (defun st-inner (x) (1+ x)) (defun st-work (x) (st-inner x) (st-inner (st-inner x)) (setf *stepped* :done))",
    );
    await killed(`
      await client.breakpoints.set("st-work", { thread: "any" });
      client.on("stop", async (stop) => (stop.reason === "step" ? tell("stepping") : await stop.step("into")));
      await client.evaluate("(progn (sb-thread:make-thread (lambda () (cl-user::st-work 1))) nil)").next();`);
    while ((await image.ask("cl-user::*stepped*")) !== ":DONE") await pause(20);
  });

  it("leaves no other client's thread waiting for it to read", async () => {
    const other = await image.connect();
    await values(other, "(defvar *written* nil)");
    await killed(`
      await client.evaluate("(let ((out *standard-output*)) (setf cl-user::*written* (sb-thread:make-thread (lambda () (loop repeat 200000 do (print :x out)) :all))) nil)", { outputLimit: Infinity }).next();
      // meanwhile nothing is read, and nothing acknowledged
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
      tell("written to");`);
    expect(await values(other, "(sb-thread:join-thread *written*)")).to.deep.equal([":ALL"]);
  });

  it("leaves no request waiting for its answer", async () => {
    const waiting = `(cl:count "pong-test" (sb-thread:list-all-threads) :key 'sb-thread:thread-name :test 'cl:equal)`;
    await killed(`
      const { read } = await import("sexp-parser");
      const flood = read('(cl:progn (cl:setf (sb-thread:thread-name sb-thread:*current-thread*) "pong-test") (swank:flow-control-test 400 0))');
      client.connection.request(flood, { label: "flood" }).catch(() => undefined);
      setTimeout(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
        tell("flooded");
      }, 0);`);
    while ((await image.ask(waiting)) !== "0") await pause(20);
  });

  it("leaves no stopped request, at any level", async () => {
    const before = await image.ask(STOPPED);
    await killed(`
      const { read } = await import("sexp-parser");
      const fail = (thread) => client.connection.request(read('(cl:error "nested")'), { label: "nested", thread }).catch(() => undefined);
      client.connection.on("event", ({ type, level, thread }) => {
        if (type === "debug") level < 3 ? fail(thread) : tell("deep");
      });
      fail("t");`);
    while ((await image.ask(STOPPED)) !== before) await pause(20);
  });

  it("leaves an error of a background thread to the next client, with its restarts", async () => {
    const other = await image.connect();
    await values(other, "(defvar *elsewhere* nil)");
    const handed = nextStop(other);
    await killed(
      `client.on("stop", () => tell("mine"));
       ${FAIL_ELSEWHERE}`,
      { foreignErrors: "mine" },
    );
    const stop = await handed;
    expect(stop.level).to.equal(1);
    expect(stop.condition).to.include({ type: "SIMPLE-ERROR", message: "elsewhere" });
    expect(stop.restarts.map(({ name }) => name)).to.deep.equal(["GIVE", "ABORT"]);
    expect((await stop.frames(0, 30)).frames[0]?.call).to.match(/^\(\(LAMBDA \(\)|^\(ERROR /);
    await stop.invokeRestart(0, [":given"]);
    expect(await values(other, "(sb-thread:join-thread *elsewhere*)")).to.deep.equal([":GIVEN"]);
  });

  it("leaves that error to the next client even if the thread is at a deeper level, in a request of the killed client", async () => {
    const other = await image.connect();
    await values(other, "(defvar *elsewhere* nil)");
    const handed = nextStop(other);
    await killed(
      `const { read } = await import("sexp-parser");
       client.connection.on("event", ({ type, level, thread }) => {
         if (type !== "debug") return;
         if (level === 1) client.connection.request(read('(cl:error "nested")'), { label: "nested", thread }).catch(() => undefined);
         else tell("deep");
       });
       ${FAIL_ELSEWHERE}`,
      { foreignErrors: "mine" },
    );
    const stop = await handed;
    expect(stop.level).to.equal(1);
    expect(stop.condition).to.include({ message: "elsewhere" });
    await stop.abort();
  });

  it("leaves that error to Lisp's own debugger if no other client accepts it", async () => {
    await killed(`client.on("stop", () => tell("stopped")); ${FAIL_ELSEWHERE}`);
    const seen = (name: string) => `(sb-thread:symbol-value-in-thread '${name} cl-user::*elsewhere* cl:nil)`;
    const inOwn = `(cl:and ${seen("sb-debug::*debug-condition*")} (cl:eql 0 ${seen("swank::*sldb-level*")}))`;
    while ((await image.ask(inOwn)) !== "T") await pause(20);
    await image.ask("(cl:progn (sb-thread:terminate-thread cl-user::*elsewhere*) cl:nil)");
  });

  it("does not disturb the next client, even if it was killed while it loaded the runtime", async () => {
    for (let round = 0; round < 3; round += 1) {
      await killed(`client.evaluate("(+ 1 2)").next(); setImmediate(() => tell("loading"));`);
      const next = await image.connect();
      expect(await values(next, "(+ 1 2)")).to.deep.equal(["3"]);
      await next.close();
    }
  });
});
