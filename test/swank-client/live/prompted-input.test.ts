import { PassThrough } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";

describe("Standard input from onRead", function () {
  this.timeout(60_000);
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
    const { stop } = stopped(await evaluation.next());
    expect(stop.reason).to.equal("interrupt");
    expect((await evaluation.abort()).status).to.equal("aborted");
  });

  it("leaves no thread behind when the client leaves while the code waits for it", async () => {
    const other = await image.connect();
    other.evaluate("(read-line)", { onRead: () => new Promise(() => undefined) });
    await pause(200);
    await other.close();
  });
});
