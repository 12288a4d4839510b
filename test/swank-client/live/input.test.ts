import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";

describe("Standard input of an evaluation", () => {
  const image = liveClient();

  it("is the given text, then end of file", async () => {
    const code =
      "(list (read-line) (read) (read-char) (read-line nil nil :eof) (read-line nil nil :eof) (read-char nil nil :eof))";
    const stdin = 'one λ\n(two "2") three\nlast';
    expect(await image.values(code, { stdin })).to.deep.equal(['("one λ" (TWO "2") #\\t "hree" "last" :EOF)']);
    expect(await image.values("(list (read-line nil nil :none))", { stdin: "" })).to.deep.equal(["(:NONE)"]);
  });

  it("is the same for every stream that a program reads", async () => {
    const code = `(list (read-line *query-io*) (read-line *terminal-io*) (read-line *debug-io*) (read-line *standard-input*)
      (y-or-n-p "sure?") (yes-or-no-p "really?"))`;
    const outcome = returned(await image.evaluate(code, { stdin: "q\nt\nd\ns\ny\nno\n" }));
    expect(outcome.values).to.deep.equal(['("q" "t" "d" "s" T NIL)']);
    expect(outcome.stdout).to.match(/sure\?.*really\?/s);
  });

  for (const code of [
    "(read)",
    "(read-line)",
    "(read-char)",
    '(y-or-n-p "sure?")',
    '(yes-or-no-p "sure?")',
    "(read-line *query-io*)",
  ]) {
    it(`stops ${code} at its end instead of waiting`, async () => {
      const evaluation = image.client.evaluate(code);
      const error = stopped(await evaluation.next()).stop.condition;
      expect(error).to.include({
        type: "END-OF-FILE",
        class: "END-OF-FILE",
        message: "End of file on standard input.",
      });
      await evaluation.abort();
    });
  }

  it("is separate for each evaluation", async () => {
    const codes = [...Array(10).keys()].map((n) => image.values("(read)", { stdin: String(n) }));
    expect((await Promise.all(codes)).flat()).to.deep.equal([...Array(10).keys()].map(String));
  });

  it("keeps its position when a stop is continued", async () => {
    const { evaluation, stop } = await image.stopIn(
      '(list (read) (restart-case (error "stop") (next () (read))) (read nil nil :eof))',
      { stdin: "1 2" },
    );
    await stop.invokeRestart(0);
    expect(returned(await evaluation.next()).values).to.deep.equal(["(1 2 :EOF)"]);
  });

  it("gives a prompting restart an end of file, and does not change the stop", async () => {
    const { evaluation, stop } = await image.stopIn("(1+ no-such-variable)");
    const form = "(swank:invoke-nth-restart-for-emacs 1 2)";
    expect(stop.condition.restarts[2]?.name).to.equal("STORE-VALUE");
    const { read } = await import("sexp-parser");
    const failure = await image.client
      .request(read(form), { label: "asking", thread: stop.thread })
      .catch((error: unknown) => error);
    expect(failure).to.include({ code: "REQUEST_FAILED" });
    expect(String(failure)).to.match(/end of file/i);
    expect(stop.isLive).to.equal(true);
    expect(image.client.stops).to.deep.equal([stop]);
    await stop.invokeRestart(1, ["41"]);
    expect(returned(await evaluation.next()).values).to.deep.equal(["42"]);
  });
});
