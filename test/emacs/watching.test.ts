import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import { NOTHING_WATCHES, SHOP, SHOP_GOES_ON } from "../support/watched-functions.js";
import { eachUser } from "./user.js";

const WATCHES = [
  ["trace-calls", { functions: ["shop::work"], limit: 100_000 }],
  ["profile-code", { mode: "calls", package: "shop" }],
  ["profile-code", {}],
] as const;

describe("watching a program beside Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  it("shows threads of the program, keeps Emacs usable, and ends when the server is killed", async () => {
    const { emacs } = user();
    await emacs.evaluateInRepl(`(dolist (text (list ${texts()})) (eval (read-from-string text)))`);
    const watcher = await user().agent("--approval", "off");
    await watcher.evaluate("1");
    for (const [tool, what] of WATCHES) {
      const agent = await user().agent("--approval", "off");
      const found = blocks(await agent.call(tool, { ...what, seconds: 1 })).join("\n");
      expect(found).to.match(tool === "trace-calls" ? /^Thread \d+ "?server-0"?:$/m : / real, /);
      agent.startCall(tool, { ...what, seconds: 3600 }).result.catch(() => undefined);
      while ((await watcher.evaluate(NOTHING_WATCHES))[0] === "=> T");
      expect(await emacs.evaluateInRepl("(shop::total (list 1 2))")).to.equal("30");
      agent.process.kill("SIGKILL");
      while ((await watcher.evaluate(NOTHING_WATCHES))[0] !== "=> T");
      expect(await watcher.evaluate(SHOP_GOES_ON)).to.deep.equal(["=> :ON"]);
      expect(await emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
      expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    }
  });

  it("shows what the heap holds and what keeps an object alive, and ends when the server is killed", async () => {
    const { emacs } = user();
    await emacs.evaluateInRepl(
      "(progn (defstruct order lines) (defvar *orders* (loop repeat 10 collect (make-order))) (defvar *state* :idle))",
    );
    const agent = await user().agent("--approval", "off");
    const heap = async (args: object) => blocks(await agent.call("heap", { ...args })).join("\n");
    expect(await heap({ mode: "summary" })).to.match(/^Heap: /m);
    expect(await heap({ mode: "instances", type: "order" })).to.match(/ORDER/);
    expect(await heap({ mode: "path", object: "(first *orders*)" })).to.include("*ORDERS*");
    const killed = await user().agent("--approval", "off");
    killed.startCall("heap", { mode: "growth", code: ENDLESS }).result.catch(() => undefined);
    while ((await agent.evaluate("*state*"))[0] !== "=> :RUNNING");
    killed.process.kill("SIGKILL");
    while ((await agent.evaluate("*state*"))[0] !== "=> :ENDED");
    expect(await emacs.evaluateInRepl("(length *orders*)")).to.equal("10");
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
  });
});

/** Code that runs until it is unwound. */
const ENDLESS = "(unwind-protect (loop (setf *state* :running) (make-order)) (setf *state* :ended))";

/** The forms of the program as strings, on one line, as they are typed in Emacs. */
function texts(): string {
  const forms = SHOP.trim().split(/\n(?=\()/);
  return forms.map((form) => JSON.stringify(form.replaceAll("\n", " "))).join(" ");
}
