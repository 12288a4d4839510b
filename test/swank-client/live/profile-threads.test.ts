import { expect } from "chai";
import { liveImage } from "./live-image.js";
import { clientWithProgram, profiled } from "./profiled-program.js";

describe("client.program.profile and threads", function () {
  this.timeout(120_000);
  const image = liveImage();

  it("watches all threads for some seconds", async () => {
    const client = await clientWithProgram(image);
    await client.eval('(sb-thread:make-thread (lambda () (shop::spin 3600)) :name "spinner") nil');
    const { functions, samples } = await profiled(client, { seconds: 1 });
    expect(functions.find(({ name }) => name === "SHOP::SPIN")?.cumulative).to.be.greaterThan(samples / 2);
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
