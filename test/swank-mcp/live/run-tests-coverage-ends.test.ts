import { expect } from "chai";
import { attachedTo, liveSwank } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { TestedSystems } from "../../support/tested-systems.js";

/** A system whose files print and take longer to load than an aborted evaluation may take to clean up, and whose test is endless. */
const FILES = {
  "mill.asd": `
(defsystem "mill"
  :serial t
  :components ((:file "wheel") (:file "stone"))
  :perform (test-op (o c) (symbol-call :mill :grind)))
`,
  "wheel.lisp": `(defpackage :mill (:use :cl))
(in-package :mill)
(defvar *grinding* nil "The thread that grinds.")
(print "The wheel is loaded.")
(sleep 1.2)
(defun turn (angle) (if (plusp angle) :on :off))
`,
  "stone.lisp": `(in-package :mill)
(print "The stone is loaded.")
(sleep 1.2)
(defun grind () (setf *grinding* sb-thread:*current-thread*) (loop (turn 1) (sleep 0.01)))
`,
} as const;

const STATE = `(list sb-c::*policy*
  (loop for name being the hash-keys of (car sb-c:*code-coverage-info*) collect name)
  asdf::*output-translations*
  (loop for component in (remove-if-not (lambda (component) (typep component (quote asdf:cl-source-file))) (asdf:required-components "mill"))
        collect (asdf::component-operation-time (asdf:make-operation 'asdf:load-op) component)
        collect (file-write-date (first (asdf:output-files 'asdf:compile-op component))))
  (mill::turn 1)
  (mapcar #'sb-cover:get-coverage (list #'mill::turn #'mill::grind)))`;

const AWAIT_RESTORED = "(loop while (car (get :swank-client :covering)) do (sleep 0.01))";

describe("run-tests with coverage that does not end by itself", () => {
  const image = liveSwank();
  let systems: TestedSystems;
  let observer: McpStdio;
  let earlier: readonly string[];

  const attached = () => McpStdio.start(attachedTo(image)());

  before(async function () {
    // The modules may have to be compiled first.
    this.timeout(600_000);
    systems = await TestedSystems.create(FILES);
    observer = await attached();
    const prepared = await observer.evaluate(
      `(require :asdf) (require :sb-cover)
      (push (sb-ext:parse-native-namestring "${systems.folder}/") asdf:*central-registry*) :prepared`,
      { timeout: 300 },
    );
    expect(prepared).to.deep.equal(["=> :PREPARED"]);
    expect((await observer.call("load-system", { system: "mill", timeout: 300 })).isError).not.to.equal(true);
    earlier = await observer.evaluate(STATE);
  });

  after(async () => {
    await observer.end();
    await systems.remove();
  });

  /** Starts the tests in another server, and waits until instrumented code runs in them. */
  async function grinding(): Promise<{ readonly server: McpStdio; readonly call: ReturnType<McpStdio["startCall"]> }> {
    const server = await attached();
    await observer.evaluate("(setf mill::*grinding* nil)");
    const call = server.startCall("run-tests", { name: "mill", coverage: true, timeout: 60 });
    await observer.evaluate("(loop until mill::*grinding* do (sleep 0.01))");
    expect(await observer.evaluate("(and (sb-cover:get-coverage #'mill::turn) t)")).to.deep.equal(["=> T"]);
    return { server, call };
  }

  it("loads all files as before when its client is killed", async () => {
    const { server, call } = await grinding();
    call.result.catch(() => undefined);
    server.process.kill("SIGKILL");
    await server.exited;
    await observer.evaluate(AWAIT_RESTORED);
    expect(await observer.evaluate(STATE)).to.deep.equal(earlier);
  });

  it("loads all files as before when the call is cancelled", async () => {
    const { server, call } = await grinding();
    server.cancel(call.id);
    await observer.evaluate(AWAIT_RESTORED);
    expect(await observer.evaluate(STATE)).to.deep.equal(earlier);
    await server.end();
  });

  it("loads all files as before when its thread is killed", async () => {
    const { server, call } = await grinding();
    call.result.catch(() => undefined);
    await observer.evaluate("(sb-thread:terminate-thread mill::*grinding*)");
    await observer.evaluate(AWAIT_RESTORED);
    expect(await observer.evaluate(STATE)).to.deep.equal(earlier);
    await server.close();
  });
});
