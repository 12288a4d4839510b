import { PassThrough } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { isBeyondSlynk } from "../../support/usual-server.js";
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
  ])
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

  if (!isBeyondSlynk("It asks in the minibuffer, and reads the NIL that a cancelled question returns."))
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

describe("Standard input from onRead", () => {
  const image = liveClient();

  /** Gives the texts one after another, then the end of file. */
  function texts(...given: readonly string[]): () => string | undefined {
    const left = [...given];
    return () => left.shift();
  }

  it("is asked for when the code reads, after the prompt has arrived", async () => {
    const events: string[] = [];
    const values = await image.client.eval('(format t "Name? ") (finish-output) (format nil "Hello ~a" (read-line))', {
      onOutput: ({ text }) => events.push(text),
      onRead: async () => {
        await pause(50);
        events.push("asked");
        return "Ada\n";
      },
    });
    expect(values).to.deep.equal(['"Hello Ada"']);
    expect(events).to.deep.equal(["Name? ", "asked"]);
  });

  it("answers y-or-n-p, read, read-char and every stream that a program reads", async () => {
    const code = '(list (y-or-n-p "sure?") (read *query-io*) (read-char *terminal-io*) (read-line *standard-input*))';
    const values = await image.client.eval(code, { onRead: texts("y\n", "(1 2) ", "xyz\n") });
    expect(values).to.deep.equal(['(T (1 2) #\\x "yz")']);
  });

  it("comes from a stream, piece by piece, whose rest the next evaluation reads", async () => {
    const stream = new PassThrough();
    const face = Buffer.from("🙂\n");
    stream.write("first\n");
    stream.write(face.subarray(0, 2));
    const lines = image.client.eval("(list (read-line) (read-line))", { onRead: stream });
    stream.write(face.subarray(2));
    expect(await lines).to.deep.equal(['("first" "🙂")']);
    stream.end("third\n");
    const code = "(list (read-line) (read-line nil nil :eof))";
    expect(await image.client.eval(code, { onRead: stream })).to.deep.equal(['("third" :EOF)']);
  });

  it("is asked again by yes-or-no-p until the answer is one", async () => {
    expect(await image.client.eval('(yes-or-no-p "sure?")', { onRead: texts("perhaps\n", "no\n") })).to.deep.equal([
      "NIL",
    ]);
  });

  it("follows stdin, and ends with undefined and with an empty text", async () => {
    const code = "(list (read-line) (read-line) (read-line nil nil :eof))";
    for (const end of [[], [""]])
      expect(await image.client.eval(code, { stdin: "first\n", onRead: texts("second\n", ...end) })).to.deep.equal([
        '("first" "second" :EOF)',
      ]);
  });

  it("is asked for by each evaluation separately, also by many at once", async () => {
    const names = [...Array(10).keys()].map(String);
    const answers = await Promise.all(
      names.map((name) => image.client.eval("(values (read-line))", { onRead: texts(`${name}\n`) })),
    );
    expect(answers.flat()).to.deep.equal(names.map((name) => `"${name}"`));
  });

  it("is at its end for a thread that the code starts, after stdin", async () => {
    const code = `(let* ((input *standard-input*)
                         (thread (sb-thread:make-thread (lambda () (list (read-line input) (read-line input nil :eof))))))
                    (sb-thread:join-thread thread))`;
    const onRead = texts("for the evaluation\n");
    expect(await image.client.eval(code, { stdin: "first\n", onRead })).to.deep.equal(['("first" :EOF)']);
    expect(onRead()).to.equal("for the evaluation\n");
  });

  it("ends with an error that onRead throws, which onListenerError receives", async () => {
    const errors: unknown[] = [];
    const other = await image.connect({ onListenerError: (error) => errors.push(error) });
    const onRead = () => {
      throw new Error("nobody there");
    };
    expect(await other.eval("(values (read-line nil nil :eof))", { onRead })).to.deep.equal([":EOF"]);
    expect(errors).to.have.length(1);
  });

  it("can be interrupted and aborted while the code waits for it", async () => {
    const evaluation = image.client.evaluate("(read-line)", { onRead: () => new Promise(() => undefined) });
    await pause(200);
    await evaluation.interrupt();
    expect(stopped(await evaluation.next()).stop.reason).to.equal("interrupt");
    expect((await evaluation.abort()).status).to.equal("aborted");
  });

  it("leaves no thread behind when the client leaves while the code waits for it", async () => {
    const other = await image.connect();
    other.evaluate("(read-line)", { onRead: () => new Promise(() => undefined) });
    await pause(200);
    await other.close();
  });
});
