import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveSwank } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Makes the runtime call a function that fails after each evaluation, with a text of the program. */
const BREAK_RETURNING = `(loop for package in (list-all-packages)
  for hooks = (and (eql 0 (search "SWANK-CLIENT/EVALUATIONS" (package-name package))) (find-symbol "*RETURN-HOOKS*" package))
  when hooks do (push (lambda (&rest arguments) (declare (ignore arguments)) (error "~a ~d" "private-4711" 7)) (symbol-value hooks)))`;

describe("Faults of the runtime in swank-mcp", () => {
  const folder = liveFolder("swank-mcp-faults");
  const lisp = liveSwank();
  before(() => void lisp.expectedFaults.push(/SIMPLE-ERROR/));

  it("are counted by lisp-status, and logged once without strings of the program", async () => {
    const file = join(folder, "log");
    const server = await McpStdio.start(["--attach", String(lisp.port), "--approval", "off", "--log-file", file]);
    expect((await server.call("lisp-status")).structuredContent).not.to.have.property("faults");
    await server.evaluate(BREAK_RETURNING);
    await server.evaluate("(+ 1 2)");
    const { faults } = (await server.call("lisp-status")).structuredContent ?? {};
    expect(faults).to.match(/^(?:1 internal fault was|2 internal faults were) recorded \(see the log\)\.$/);
    await server.call("lisp-status");
    await server.end();
    const log = await readFile(file, "utf8");
    expect(log.match(/internal fault 1, .*: SIMPLE-ERROR in .*: a [A-Z:-]+ 7$/gm)).to.have.lengthOf(1);
    expect(log).to.not.include("private-4711");
  });
});
