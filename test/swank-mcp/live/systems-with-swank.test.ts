import { expect } from "chai";
import { liveSwank } from "../../support/live-server.js";
import { LoadableSystems, loadText } from "../../support/loadable-systems.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Whether ASDF was told that Swank is loaded. */
const ANNOUNCED = `(and (gethash "swank" (symbol-value (find-symbol "*IMMUTABLE-SYSTEMS*" :asdf/system-registry))) t)`;

describe("a system that depends on Swank", () => {
  let systems: LoadableSystems;

  before(async () => {
    systems = await LoadableSystems.create();
    await systems.write(
      "served.asd",
      `(defsystem "served" :depends-on ((:version "swank" "2.0")) :components ((:file "served")))`,
    );
    await systems.write("served.lisp", "(defvar *served* swank::*connections*)\n");
    await systems.write("outer.asd", `(defsystem "outer" :depends-on ("served" :swank) :components ((:file "outer")))`);
    await systems.write("outer.lisp", "(defun outer () swank::*connections*)\n");
  });
  after(async () => {
    await systems.remove();
  });

  it("does not load Swank again, so that stops last", async () => {
    const server = await systems.start();
    await server.evaluate(`(setf (get :swank-before :functions) (list #'swank:connection-info #'swank:create-server))`);
    await server.call("evaluate-lisp", { code: '(error "kept")' });
    for (const args of [
      { system: "outer" },
      { system: "outer", force: true },
      { system: "swank" },
      { system: "swank", force: true },
    ])
      expect((await server.call("load-system", args)).isError, JSON.stringify(args)).to.equal(false);
    const again = `(progn (asdf:load-system :swank) (require :swank) (asdf:load-system :swank :force t) (asdf:load-system :outer :force :all)
      (equal (get :swank-before :functions) (list #'swank:connection-info #'swank:create-server)))`;
    expect((await server.evaluate(again))[0]).to.equal("=> T");
    expect(loadText(await server.call("debugger_invoke_restart", { restart: "ABORT" }))).to.match(
      /^; Evaluation aborted/,
    );
    expect((await server.evaluate(`(namestring (asdf:system-source-file "swank"))`))[0]).to.match(/swank\.asd/);
    await server.end();
  });

  const lisp = liveSwank();

  it("is loaded as well into an image that the server is attached to, which forgets that afterwards", async () => {
    const attach = () => McpStdio.start(["--attach", String(lisp.port)]);
    const server = await attach();
    await server.evaluate(`(require "asdf")
(asdf:initialize-source-registry (list :source-registry (list :directory "${systems.folder}/") :inherit-configuration))
(asdf:initialize-output-translations
  (list :output-translations (list t (sb-ext:parse-native-namestring "${systems.folder}/fasl/")) :ignore-inherited-configuration))`);
    await server.evaluate("(setf (get :swank-before :function) #'swank:connection-info)");
    expect(loadText(await server.call("load-system", { system: "outer" }))).to.match(/^System outer is loaded/);
    expect(
      await server.evaluate(`(list (eq (get :swank-before :function) #'swank:connection-info) ${ANNOUNCED})`),
    ).to.deep.equal(["=> (T T)"]);
    await server.evaluate(`(defvar *announced-later* :unknown)
(let ((check (lambda () (setf *announced-later* ${ANNOUNCED}))))
  (sb-thread:make-thread (lambda () (loop repeat 100 do (sleep 0.05) (funcall check) while *announced-later*))))`);
    await server.end();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const later = await attach();
    expect(await later.evaluate("*announced-later*")).to.deep.equal(["=> NIL"]);
    await later.end();
  });
});
