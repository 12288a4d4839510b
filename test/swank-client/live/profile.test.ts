import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { types } from "swank-client";
import { profileCode } from "swank-client/internal";
import { rejection } from "../../support/caught.js";
import { encapsulated, PROFILER_OFF } from "../../support/watched-functions.js";
import { liveImage } from "./live-image.js";
import { clientWithProgram, NAMES, profiled } from "./profiled-program.js";

/** True if the profiler is off, and no function of the program is encapsulated. */
const OFF = `(cl:and ${PROFILER_OFF} (cl:zerop (cl:if (cl:find-package "SHOP") ${encapsulated(NAMES)} 0)))`;

describe("client.program.profile", function () {
  this.timeout(120_000);
  const image = liveImage();

  it("loads the profiler for several clients at once, and after a thread was ended that had loaded half of it", async () => {
    const client = await clientWithProgram(image);
    await client.eval(`
      (let ((thread (sb-thread:make-thread (lambda () (require "SB-SPROF")))))
        (loop until (find-package "SB-SPROF"))
        (ignore-errors (sb-thread:terminate-thread thread))
        (sb-thread:join-thread thread :default nil))`);
    const others = await Promise.all([image.connect(), image.connect()]);
    await Promise.all([client, ...others].map((one) => profileCode(one.lisp, { code: "1" }, {})));
    expect((await profiled(client, { code: "(shop::orders 300)" })).samples).to.be.greaterThan(0);
  });

  it("returns the tree of calls if stacks are wanted", async () => {
    const client = await clientWithProgram(image);
    const profile = await profiled(client, { code: "(shop::orders 1000)" }, { stacks: true });
    const { nodes, omitted } = profile.stacks ?? { nodes: [], omitted: -1 };
    expect(omitted).to.equal(0);
    expect(nodes.slice(0, 3).map(({ depth, name }) => [depth, name])).to.deep.equal(
      profile.path.slice(0, 3).map(({ name }, depth) => [depth, name]),
    );
    const ofDepth = (depth: number) => nodes.filter((node) => node.depth === depth);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    expect(sum(ofDepth(0).map(({ samples }) => samples))).to.equal(profile.samples - profile.outside);
    expect(sum(nodes.map(({ self }) => self))).to.equal(profile.samples - profile.outside);
    expect((await profiled(client, { code: "(shop::orders 100)" })).stacks).to.equal(undefined);
  });

  const countsOf = ({ functions }: types.Profile) =>
    Object.fromEntries(functions.map(({ name, calls }) => [name, calls]));

  it("counts the calls of a package exactly, those by new threads, too, with times", async () => {
    const client = await clientWithProgram(image);
    const code = `(shop::ticks 12345) (shop::down 7) (catch 'shop::out (shop::leave))
      (mapc #'sb-thread:join-thread (loop repeat 4 collect (sb-thread:make-thread (lambda () (shop::ticks 5000)))))
      (shop::spin 0.2) (shop::act (make-instance 'shop::book)) :done`;
    const profile = await profiled(client, { code }, { mode: "calls", package: "shop" });
    expect(countsOf(profile)).to.deep.equal({
      "SHOP::TICK": 32_345,
      "SHOP::TICKS": 5,
      "SHOP::DOWN": 8,
      "SHOP::LEAVE": 1,
      "SHOP::SPIN": 1,
      "SHOP::ACT": 1,
    });
    expect(profile).to.include({ mode: "calls", end: "returned", samples: 32_361 });
    expect(profile.values).to.deep.equal([":DONE"]);
    const named = (name: string) => profile.functions.find((found) => found.name === name);
    expect(named("SHOP::SPIN")?.self).to.be.within(190_000, profile.cost.real);
    expect(named("SHOP::TICKS")?.cumulative).to.be.greaterThan(named("SHOP::TICKS")?.self ?? 0);
    expect(named("SHOP::DOWN")?.cumulative).to.be.at.most(profile.cost.real);
    expect(profile.counts).to.include({ called: 6 });
    expect(profile.counts?.functions).to.be.greaterThan(9);
    expect(profile.counts?.looking).to.be.greaterThan(0);
    expect(await image.ask(OFF)).to.equal("T");
  });

  it("counts single methods, the calls of all threads for some seconds, and each run of the same code anew", async () => {
    const client = await clientWithProgram(image);
    const functions = ["(method shop::act (shop::item))", "(method shop::act :around (t))", "shop::tick"];
    const code = "(dolist (class '(shop::item shop::book)) (shop::act (make-instance class)))";
    const run = await profileCode(client.lisp, { code }, { mode: "calls", functions });
    for (let round = 0; round < 2; round += 1) {
      const outcome = await client.evaluate(run.code, { valuesAs: "data", policy: "keep" }).next();
      const [value = ""] = outcome.status === "returned" ? outcome.values : [];
      expect(countsOf(run.result(value))).to.deep.equal({
        "(METHOD SHOP::ACT (SHOP::ITEM))": 2,
        "(METHOD SHOP::ACT :AROUND (T))": 2,
      });
    }
    await client.eval('(sb-thread:make-thread (lambda () (loop (shop::tick 1) (sleep 0.001))) :name "ticker") nil');
    const watched = await profiled(client, { seconds: 0.5 }, { mode: "calls", functions });
    expect(Object.keys(countsOf(watched))).to.deep.equal(["SHOP::TICK"]);
    await client.eval(
      "(sb-thread:terminate-thread (find \"ticker\" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)) nil",
    );
    expect(await image.ask(OFF)).to.equal("T");
  });

  it("counts beside another client's count and the user's encapsulation of the same function", async () => {
    const [client, other] = [await clientWithProgram(image), await image.connect()];
    const around = other.program.profile({ seconds: 3600 }, { mode: "calls", functions: ["shop::tick"] });
    while ((await image.ask(OFF)) === "T") await pause(20);
    await client.eval(
      "(defvar *seen* 0) (sb-int:encapsulate 'shop::tick 'mine (lambda (f &rest args) (incf *seen*) (apply f args)))",
    );
    const profile = await profiled(client, { code: "(shop::ticks 100)" }, { mode: "calls", functions: ["shop::tick"] });
    expect(profile.samples).to.equal(100);
    await around.abort();
    expect((await around.soFar())?.samples).to.equal(100);
    expect(await client.eval("*seen*")).to.deep.equal(["100"]);
    await client.eval("(sb-int:unencapsulate 'shop::tick 'mine) nil");
    expect(await image.ask(OFF)).to.equal("T");
  });

  it("is refused while the program's own profile runs or has samples, which stay", async () => {
    const client = await clientWithProgram(image);
    await client.eval("(require :sb-sprof)");
    await client.eval(
      "(sb-sprof:start-profiling :max-samples 1000) (shop::spin 1) (sb-sprof:stop-profiling) (defvar *kept* sb-sprof::*samples*)",
    );
    const { message } = await rejection(client.program.profile({ code: "1" }).result(), "WATCH_REFUSED");
    expect(message).to.include("has samples of the program");
    expect(await client.eval("(eq *kept* sb-sprof::*samples*)")).to.deep.equal(["T"]);
    await client.eval("(sb-sprof:start-profiling)");
    await rejection(client.program.profile({ code: "1" }).result(), "WATCH_REFUSED");
    expect(await client.eval("sb-sprof::*profiling*")).to.deep.equal([":CPU"]);
    await client.eval("(sb-sprof:stop-profiling) (sb-sprof:reset)");
    expect((await profiled(client, { code: "(shop::orders 300)" })).samples).to.be.greaterThan(0);
    expect(await client.eval("sb-sprof::*samples*")).to.deep.equal(["NIL"]);
  });

  it("is off when the code stops in the debugger, and has what was sampled until then", async () => {
    const client = await clientWithProgram(image);
    const task = client.program.profile({ code: '(shop::orders 300) (error "enough")' });
    await rejection(task.result(), "EVALUATION_STOPPED");
    expect(await image.ask(OFF)).to.equal("T");
    expect(await task.soFar()).to.include({ end: "stopped" });
    await task.abort();
  });

  it("counts until the code stops in the debugger, is aborted, or leaves without a value", async () => {
    const client = await clientWithProgram(image);
    const options = { mode: "calls", package: "shop", functions: ["(method shop::act (shop::item))"] } as const;
    const stopping = client.program.profile({ code: '(shop::ticks 30) (error "enough")' }, options);
    await rejection(stopping.result(), "EVALUATION_STOPPED");
    expect(await image.ask(OFF)).to.equal("T");
    expect(await stopping.soFar()).to.include({ end: "stopped", samples: 31 });
    await stopping.abort();
    const leaving = await profileCode(client.lisp, { code: "(shop::leave)" }, options);
    expect(await client.eval(`(catch 'shop::out ${leaving.code})`)).to.deep.equal(["1"]);
    expect(await leaving.progress()).to.include({ end: "unwound", samples: 1 });
    expect(await image.ask(OFF)).to.equal("T");
    const running = client.program.profile({ code: "(loop (shop::tick 1))" }, options);
    while ((await image.ask(OFF)) === "T") await pause(20);
    await running.abort();
    expect(await image.ask(OFF)).to.equal("T");
  });

  it("is off when the code is aborted or leaves without a value", async () => {
    const client = await clientWithProgram(image);
    const cancelling = new AbortController();
    const task = client.program.profile({ code: "(shop::spin 3600)" }, { signal: cancelling.signal });
    while ((await image.ask(OFF)) === "T") await pause(20);
    cancelling.abort();
    await rejection(task.result(), "CANCELLED");
    expect(await image.ask(OFF)).to.equal("T");
    const left = await profileCode(client.lisp, { code: "(throw 'out 1)" }, {});
    expect(await client.eval(`(catch 'out ${left.code})`)).to.deep.equal(["1"]);
    expect(await image.ask(OFF)).to.equal("T");
    expect(await left.progress()).to.include({ end: "unwound" });
  });

  it("refuses unbalanced code, unknown packages and wrong options", async () => {
    const client = await image.connect();
    const refusal = async (
      expected: types.SwankErrorCode,
      source: types.ProfileSource,
      options: types.ProfileOptions = {},
    ) => (await rejection(client.program.profile(source, options).result(), expected)).message;
    expect(await refusal("INVALID_ARGUMENT", { code: "(list 1" })).to.equal(
      "code, line 1, column 1: the list that begins here never ends; a closing parenthesis is missing.",
    );
    expect(await refusal("NO_SUCH_PACKAGE", { code: "1" }, { package: "cl-usr" })).to.equal(
      "There is no package cl-usr. Similar: COMMON-LISP-USER.",
    );
    expect(await refusal("INVALID_ARGUMENT", { code: "1" }, { mode: "calls" })).to.include("Nothing is named");
    expect(
      await refusal("INVALID_ARGUMENT", { code: "1" }, { mode: "calls", functions: ["f"], stacks: true }),
    ).to.include("no stacks");
    expect(await refusal("INVALID_ARGUMENT", { code: "1" }, { functions: ["f"] })).to.include("Only the mode calls");
    expect(await refusal("WATCH_REFUSED", { code: "1" }, { mode: "calls", functions: ["cl-user::no-such"] })).to.equal(
      "cl-user::no-such: There is no such function.",
    );
    expect(await refusal("INVALID_ARGUMENT", { seconds: -1 })).to.include(
      "seconds is a number of seconds, at most 3600",
    );
  });
});

describe("client.program.profile and threads", function () {
  this.timeout(120_000);
  const image = liveImage();

  it("watches all threads for some seconds", async () => {
    const client = await clientWithProgram(image);
    await client.eval('(sb-thread:make-thread (lambda () (shop::spin 3600)) :name "spinner") nil');
    const { functions, samples, stacks } = await profiled(client, { seconds: 1 }, { stacks: true });
    expect(functions.find(({ name }) => name === "SHOP::SPIN")?.cumulative).to.be.greaterThan(samples / 2);
    // The thread that waits for the end of the profile uses the processor, too.
    expect(stacks?.nodes.filter(({ name }) => /PROFILE-SECONDS/.test(name))).to.deep.equal([]);
    await client.eval(
      "(sb-thread:terminate-thread (find \"spinner\" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)) nil",
    );
  });

  it("begins and ends while threads begin and end all the time, and watches those, too", async () => {
    const client = await clientWithProgram(image);
    await client.eval(`
      (defvar cl-user::*busy* t)
      (dotimes (i 2)
        (sb-thread:make-thread
          (lambda ()
            (loop while cl-user::*busy*
                  do (sb-thread:join-thread (sb-thread:make-thread (lambda () (shop::ticks 30000)) :name "short"))))))`);
    for (let round = 0; round < 100; round += 1) await profiled(client, { code: "(shop::tick 1)" });
    const { functions } = await profiled(client, { seconds: 1 });
    expect(functions.find(({ name }) => name === "SHOP::TICKS")?.cumulative).to.be.greaterThan(10);
    await client.eval("(setq cl-user::*busy* nil)");
  });

  it("watches a thread that begins while the profiler is being started", async () => {
    const client = await clientWithProgram(image);
    await client.program.profile({ code: "1" }).result();
    await client.eval(`
      (defvar cl-user::*late* nil)
      (sb-int:encapsulate 'sb-sprof:start-profiling 'late
        (lambda (start &rest arguments)
          (multiple-value-prog1 (apply start arguments)
            (let ((begun nil))
              (setf cl-user::*late* (sb-thread:make-thread (lambda () (setf begun t) (shop::spin 3600)) :name "late"))
              (loop until begun do (sb-thread:thread-yield))))))`);
    const { functions, samples } = await profiled(client, { seconds: 1 });
    await client.eval(
      "(sb-int:unencapsulate 'sb-sprof:start-profiling 'late) (sb-thread:terminate-thread cl-user::*late*) nil",
    );
    expect(functions.find(({ name }) => name === "SHOP::SPIN")?.cumulative).to.be.greaterThan(samples / 2);
  });

  it("watches finalizers", async () => {
    const client = await clientWithProgram(image);
    await client.eval(`
      (defun shop::leave-garbage ()
        (dotimes (i 50) (sb-ext:finalize (list i) (if (< i 2) (lambda () (shop::spin 1/2)) (lambda ())))))`);
    const code = "(progn (shop::leave-garbage) (gc :full t) (sleep 2))";
    const { functions, samples } = await profiled(client, { code });
    expect(functions.find(({ name }) => name === "SHOP::SPIN")?.cumulative).to.be.greaterThan(samples / 2);
  });
});
