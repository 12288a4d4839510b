import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { list, read, symbol } from "sexp-parser";
import { connect, type SwankClient } from "swank-client";
import { launchImage } from "swank-client/launch";
import type { SwankMessage } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

/** A string of `length` characters. */
const string = (length: number, character = 97) =>
  `(cl:make-string ${length} :initial-element (cl:code-char ${character}))`;

const CIRCULAR = "(cl:let ((cell (cl:list 1))) (cl:setf (cl:cdr cell) cell))";
const CAR_CIRCULAR = "(cl:let ((cell (cl:list 1))) (cl:setf (cl:car cell) cell))";
const DEEP = "(cl:let ((x 1)) (cl:dotimes (i 100000 x) (cl:setf x (cl:list x))))";

/** An object whose printing does `body`. */
const printing = (body: string) => `
  (cl:progn
    (cl:defclass cl-user::odd () ())
    (cl:defmethod cl:print-object ((odd cl-user::odd) stream) ${body})
    (cl:make-instance 'cl-user::odd))`;

const call = (client: SwankClient, form: string) => client.request(read(form), { label: "large" });

async function expectAlive(client: SwankClient): Promise<void> {
  expect(await call(client, "(cl:+ 1 2)")).to.equal(3);
}

describe("Results that do not fit into a message", () => {
  const image = liveImage();
  const TOO_LARGE: readonly [what: string, form: string][] = [
    ["a string of 20 MB", string(20_000_000)],
    ["a string of 17 MB as UTF-8", string(6_000_000, 0x65e5)],
    ["a string that is 17 MB with its escapes", string(8_500_000, 34)],
    ["a list of many strings", `(cl:make-list 300 :initial-element ${string(60_000)})`],
    ["a list of many numbers", "(cl:make-list 9000000 :initial-element 7)"],
    ["a circular list", CIRCULAR],
    ["a list that contains itself", CAR_CIRCULAR],
    ["a deeply nested list", DEEP],
    ["a large vector", "(cl:make-array 9000000 :initial-element 7)"],
    ["an object that prints without end", printing('(cl:loop (cl:write-string "text" stream))')],
  ];
  for (const [what, form] of TOO_LARGE)
    it(`are refused, and the connection stays: ${what}`, async () => {
      const client = await image.connect({ runtime: false });
      await rejection(call(client, form), "REPLY_TOO_LARGE");
      await expectAlive(client);
    });

  if (!isBeyondSlynk("Its function cuts what it prints."))
    it("are refused for plain commands", async () => {
      const client = await image.connect({ runtime: false });
      const running = client.run(calls.evaluation.evalAndGrabOutput, "(make-string 20000000)");
      expect((await rejection(running, "REPLY_TOO_LARGE")).message).to.match(/^swank:eval-and-grab-output: /);
      await expectAlive(client);
    });

  it("are sent if they fit", async () => {
    const client = await image.connect({ runtime: false });
    expect(await call(client, string(16_700_000))).to.have.lengthOf(16_700_000);
    expect(await call(client, string(8_300_000, 92))).to.have.lengthOf(8_300_000);
    expect(await call(client, "(cl:cons 1 (cl:list* 1.5d0 #\\a :key 'cl:car 3))")).to.deep.equal(
      read("(1 1.5 #\\a :key common-lisp:car . 3)"),
    );
  });

  it("do not end a launched image", async () => {
    const launched = await launchImage();
    const client = await connect({ transport: launched.transport, secret: false });
    try {
      await rejection(call(client, string(20_000_000)), "REPLY_TOO_LARGE");
      await expectAlive(client);
    } finally {
      await client.close();
      await launched.stop();
    }
  }).timeout(300_000);
});

describe("Other messages that exceed the frame size", () => {
  const image = liveImage();

  it("a failed request whose condition has 20 MB of text fails", async () => {
    const client = await image.connect({ runtime: false });
    await rejection(call(client, `(cl:error "~a" ${string(20_000_000)})`), "REQUEST_FAILED");
    await expectAlive(client);
  });

  it("a message for a status line is truncated", async () => {
    const client = await image.connect({ runtime: false });
    const message = new Promise<SwankMessage>((resolve) =>
      client.connection.on("event", (event) => {
        if (event.type === "background-message") resolve(event);
      }),
    );
    await call(client, `(cl:null (swank::background-message "~a" ${string(20_000_000)}))`);
    const received = await message;
    expect(received.type === "background-message" && received.text.length).to.be.below(30_000);
    await expectAlive(client);
  });

  it("leave nothing in the image when the connection is closed", async () => {
    const installed = "(sb-kernel:%coerce-name-to-fun 'swank::dispatch-event)";
    await image.ask(`(cl:null (cl:setf (cl:get :swank-client-test :before) ${installed}))`);
    const unchanged = `(cl:eq (cl:get :swank-client-test :before) ${installed})`;
    await image.connect({ runtime: false });
    expect(await image.ask(unchanged)).to.equal("NIL");
    await image.closeClients();
    await image.untilTidy();
    expect(await image.ask(unchanged)).to.equal("T");
  });
});

describe("Requests of more than 16 MB", () => {
  const image = liveClient();
  const text = "a".repeat(17_000_000);

  it("are refused before they are sent", async () => {
    await rejection(image.client.request(list(symbol("cl:length"), text), { label: "large" }), "FRAME_TOO_LARGE");
    await rejection(image.client.evaluate(`"${text}"`).next(), "FRAME_TOO_LARGE");
    await rejection(image.client.run(calls.evaluation.evalAndGrabOutput, text), "FRAME_TOO_LARGE");
    await expectAlive(image.client);
  });

  it("arrive if they are slightly smaller", async () => {
    expect(await image.client.request(list(symbol("cl:length"), text.slice(0, 16_700_000)), { label: "x" })).to.equal(
      16_700_000,
    );
  });
});

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

describe("SwankClient under load:", () => {
  const image = liveImage();

  it("100 clients connect at once to an image that is suspended for a moment, although few of them may wait for it", async () => {
    image.swank.process.kill("SIGSTOP");
    const connecting = numbers(100).map(() => image.connect({ runtime: false }));
    await pause(300);
    image.swank.process.kill("SIGCONT");
    expect(await Promise.all(connecting)).to.have.lengthOf(100);
  });

  it("200 simultaneous evaluations each return their own value", async () => {
    const client = await image.connect();
    const evaluations = numbers(200).map((n) => client.evaluate(`(progn (sleep 0.05) (list ${n} (* ${n} ${n})))`));
    const outcomes = await Promise.all(evaluations.map((evaluation) => evaluation.next()));
    expect(outcomes.map((outcome) => returned(outcome).values)).to.deep.equal(
      numbers(200).map((n) => [`(${n} ${n * n})`]),
    );
    expect(client.evaluations).to.deep.equal([]);
  });

  it("16 stopped threads resume in any order, each to its own value", async () => {
    const client = await image.connect();
    const code = (n: number) => `(restart-case (error "stop ~d" ${n}) (give (value) (list ${n} value)))`;
    const evaluations = numbers(16).map((n) => client.evaluate(code(n)));
    const stops = await Promise.all(evaluations.map(async (evaluation) => stopped(await evaluation.next())));
    expect(stops.map(({ stop }) => stop.condition.message)).to.deep.equal(numbers(16).map((n) => `stop ${n}`));
    expect(new Set(client.stops.map(({ thread }) => thread)).size).to.equal(16);
    const backwards = [...stops.entries()].reverse();
    await Promise.all(backwards.map(([n, { stop }]) => stop.invokeRestart(0, [`(+ 100 ${n})`])));
    const outcomes = await Promise.all(evaluations.map((evaluation) => evaluation.next()));
    expect(outcomes.map((outcome) => returned(outcome).values)).to.deep.equal(
      numbers(16).map((n) => [`(${n} ${n + 100})`]),
    );
  });

  it("the frames of an exhausted stack are counted and returned in pages", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate("(defun deep (n) (1+ (deep (1+ n)))) (deep 0)");
    const { stop } = stopped(await evaluation.next());
    expect((await stop.frames(0, 10)).totalFrames).to.be.greaterThan(1000);
    const middle = await stop.frames(500, 503);
    expect(middle.frames.map(({ index, call }) => [index, /^\(DEEP \d+\)$/.test(call)])).to.deep.equal(
      [500, 501, 502].map((index) => [index, true]),
    );
    aborted(await evaluation.abort());
  });
});
