import { expect } from "chai";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { expectFacts } from "../../support/facts.js";
import { attachedTo, liveEditor, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

describe("reset-session on an attached image", () => {
  const lisp = liveSwank();
  const editor = liveEditor(lisp);
  const server = liveServer({ each: true, args: attachedTo(lisp) });

  async function others(code: string): Promise<readonly string[]> {
    const outcome = await editor.client.evaluate(code).next();
    return outcome.status === "returned" ? outcome.values : [outcome.status];
  }

  it("lists what it has undefined and what it has left", async () => {
    await others("(defun ra-theirs () 1) (defvar *ra-theirs* 1)");
    await server.evaluate(
      '(defpackage :ra-app (:use :cl)) (in-package :ra-app) (defun run () 1) (defmacro with-run (x) x) (defvar *state* 1) (defclass thing () ()) (defun cl-user::ra-theirs () 2) (load "/dev/null")',
    );
    await server.evaluate("(car 7)");
    const result = await server.call("reset-session");
    expectFacts(
      blocks(result).join("\n\n"),
      "Session reset. The package is COMMON-LISP-USER.\n\n[aborted]\n1 evaluation\n\n[undefined]\nfunction RA-APP::RUN\nmacro RA-APP::WITH-RUN\nvariable RA-APP::*STATE*\n",
      "[left]\npackage RA-APP: only functions, macros and variables are undefined\n…function COMMON-LISP-USER::RA-THEIRS: existed before this session\n",
      "[left, loaded from files]\n/dev/null",
    );
    expect(result.isError).to.equal(false);
    expect(result._meta?.["swank-mcp/reset"]).to.containSubset({
      aborted: 1,
      still_running: 0,
      loaded: [{ kind: "file", name: "/dev/null", times: 1 }],
    });
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    expect((await server.call("lisp-status")).structuredContent).to.include({
      package: "COMMON-LISP-USER",
      pid: lisp.process.pid,
    });
    expect(
      await others("(list (fboundp 'ra-app::run) (ra-theirs) *ra-theirs* (and (find-class 'ra-app::thing) t))"),
    ).to.deep.equal(["(NIL 2 1 T)"]);
    expect(blocks(await server.call("reset-session"))).to.deep.equal([
      "Session reset. The package is COMMON-LISP-USER.",
    ]);
  });

  it("ends only its session's evaluations and stops", async () => {
    const theirs = editor.client.evaluate('(error "theirs")');
    await theirs.next();
    await server.evaluate('(error "mine")');
    const running = server.startCall("evaluate-lisp", { code: "(progn (print 1) (loop (sleep 0.01)))" });
    await server.progressOf(running);
    expect(blocks(await server.call("reset-session"))[0]).to.match(/\n\n\[aborted\]\n2 evaluations$/);
    expect(blocks(await running.result)[0]).to.equal("[stdout]\n\n1 \n\n; Evaluation aborted: the session was reset");
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    const stops = (await server.call("lisp-status")).structuredContent?.["stopped"];
    expect(stops).to.have.lengthOf(1);
    expect(stops).to.have.nested.property("[0].message", "theirs");
    expect(editor.client.stops).to.have.lengthOf(1);
    await theirs.abort();
  });
});
