import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** Classes whose objects cannot be printed: printing never ends, stops at a break, or invokes ABORT. Most of the time is waiting for limits. */
const CLASSES = `
(defclass endless () ())
(defmethod print-object ((object endless) stream) (loop (sleep 0.01)))
(defclass stopping () ())
(defmethod print-object ((object stopping) stream) (break "while printing"))
(defclass leaving () ())
(defmethod print-object ((object leaving) stream) (invoke-restart 'abort))
(defun hold (number stopper leaver thing) (error "held ~a" (first (list number stopper leaver thing))))
`;

/** How the variables of a stop are shown. */
const SHOWN = [
  "THING #<a COMMON-LISP-USER::ENDLESS takes too long to print>",
  "STOPPER #<a COMMON-LISP-USER::STOPPING cannot be printed>",
  "LEAVER #<error printing a LEAVING: ",
  "NUMBER 7",
];

describe("debugger tools with objects that cannot be printed", () => {
  const lisp = liveDebugger({ code: CLASSES });

  it("inspect and resume a stop with such variables", async () => {
    // What comes after the endless one has no time left.
    const objects = "(make-instance 'stopping) (make-instance 'leaving) (make-instance 'endless)";
    const [report = ""] = await lisp.evaluate(`(hold 7 ${objects})`);
    expect(report).to.contain("held 7");
    const frame = await lisp.frame("(HOLD");
    const values = frame.locals.map(({ name, value }) => `${name} ${value}`).join("\n");
    for (const shown of SHOWN) expect(values).to.contain(shown);
    const { locals } = await lisp.json("debugger_frame_locals", { frame: frame.index });
    for (const shown of SHOWN) expect(JSON.stringify(locals)).to.contain(shown.replace(/^\S+ /, ""));
    expect(await lisp.valuesInFrame(frame.index, "(type-of thing)")).to.deep.equal(["ENDLESS"]);
    const [ended] = await lisp.resume("debugger_invoke_restart", { restart: "ABORT" });
    expect(ended).to.equal("; Evaluation aborted");
  });

  it("list and describe such objects, and leave no printing thread behind", async () => {
    await lisp.evaluate(
      "(defvar *endless* (make-instance 'endless)) (defvar *stopping* (make-instance 'stopping)) (defmethod told ((x (eql *endless*))) 1) nil",
    );
    const described = await lisp.call("describe-symbol", { name: "*stopping*" });
    expect(blocks(described)[0]).to.include("Value: <error printing value>");
    const listed = await lisp.call("list-definitions");
    expect(blocks(listed)[0]).to.include("TOLD #<a COMMON-LISP:CONS takes too long to print>");
    await lisp.setBreakpoint({ function: "(method told ((eql *endless*)))" });
    expect(await lisp.breakpoints()).to.have.lengthOf(1);
    await lisp.removeBreakpoints();
    const workers = "(count \"worker\" (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) :test #'string=)";
    expect(
      await lisp.evaluate(`(loop repeat 2000 for n = ${workers} until (= n 1) do (sleep 1/100) finally (return n))`),
    ).to.deep.equal(["=> 1"]);
  });
});
