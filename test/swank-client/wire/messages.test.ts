import { expect } from "chai";
import { keyword, list, NIL, read, type Sexp } from "sexp-parser";
import type { ClientMessage, SwankMessage } from "swank-client/protocol";
import * as wire from "swank-client/protocol";
import { thrown } from "../../support/caught.js";
import { divisions } from "../../support/divisions.js";
import { frame } from "../../support/fake-swank.js";
import { MESSAGE_CASES } from "./cases/index.js";

function receive(chunks: readonly Uint8Array[]): SwankMessage[] {
  const messages: SwankMessage[] = [];
  const decoder = new wire.FrameDecoder((payload) => messages.push(wire.readMessage(payload)));
  for (const chunk of chunks) decoder.push(chunk);
  return messages;
}

describe("readMessage", () => {
  for (const [title, text, message] of MESSAGE_CASES)
    it(`decodes ${title}, however the bytes arrive`, () => {
      for (const { name, chunks } of divisions(frame(text))) expect(receive(chunks), name).to.deep.equal([message]);
    });

  it("decodes many messages in order", () => {
    const bytes = Buffer.concat(MESSAGE_CASES.map(([, text]) => frame(text)));
    expect(receive([bytes])).to.deep.equal(MESSAGE_CASES.map(([, , message]) => message));
  });

  it("refuses Lisp data that is not a message", () => {
    for (const text of [
      "",
      "hello",
      "42",
      '"(:ping 1 2)"',
      "nil",
      "(ping 1 2)",
      "((:ping))",
      "(foo . :bar)",
      "#(:ping 1 2)",
    ]) {
      const error = thrown("UNREADABLE_MESSAGE", () => wire.readMessage(text));
      expect(error.message, text).to.equal("The received data are not a Swank message.");
    }
  });

  it("refuses text that is not Lisp data, and shows it in the error", () => {
    for (const text of [")", "(((((", "{}", '{"jsonrpc":"2.0"', '"unclosed', "#<"])
      expect(thrown("UNREADABLE_MESSAGE", () => wire.readMessage(text)).details.received, text).to.equal(text);
  });

  it("limits nesting to more than any image prints", () => {
    const nested = (depth: number) => `(:return (:ok ${"(".repeat(depth)}1${")".repeat(depth)}) 1)`;
    expect(wire.readMessage(nested(9000)).type).to.equal("return");
    expect(wire.readMessage(nested(100_000))).to.include({ type: "unreadable", id: 1 });
  });
});

const CASES: readonly (readonly [message: ClientMessage, text: string])[] = [
  [
    { type: "emacs-rex", form: read("(swank:connection-info)"), package: "CL-USER", thread: "t", id: 1 },
    '(:emacs-rex (swank:connection-info) "CL-USER" t 1)',
  ],
  [
    { type: "emacs-rex", form: read("(swank-repl:create-repl nil)"), package: undefined, thread: "repl-thread", id: 2 },
    "(:emacs-rex (swank-repl:create-repl nil) nil :repl-thread 2)",
  ],
  [
    {
      type: "emacs-rex",
      form: read(`(swank::f "a\\"b\\\\c\nd" '(1 . 2) #\\  :k)`),
      package: 'odd "name"',
      thread: 17,
      id: 3,
    },
    `(:emacs-rex (swank::f "a\\"b\\\\c\nd" '(1 . 2) #\\Space :k) "odd \\"name\\"" 17 3)`,
  ],
  [{ type: "emacs-interrupt", thread: 5 }, "(:emacs-interrupt 5)"],
  [{ type: "emacs-interrupt", thread: "t" }, "(:emacs-interrupt t)"],
  [{ type: "emacs-pong", thread: 5, tag: 6 }, "(:emacs-pong 5 6)"],
  [{ type: "emacs-return", thread: 5, tag: 6, value: NIL }, "(:emacs-return 5 6 nil)"],
  [{ type: "emacs-return", thread: 5, tag: 6, value: list(keyword("ok"), "x") }, '(:emacs-return 5 6 (:ok "x"))'],
  [{ type: "emacs-return-string", thread: 5, tag: 6, text: "41\n" }, '(:emacs-return-string 5 6 "41\n")'],
  [
    { type: "emacs-channel-send", channel: 7, message: list(keyword("process"), "1") },
    '(:emacs-channel-send 7 (:process "1"))',
  ],
  [{ type: "write-done", thread: 5 }, "(:write-done 5)"],
];

describe("encodeMessage", () => {
  for (const [message, text] of CASES)
    it(JSON.stringify(text), () => expect(wire.printMessage(message)).to.equal(text));

  const REFUSED: readonly Sexp[] = [
    { kind: "opaque", text: "#.(cl-user::boom)" },
    { kind: "opaque", text: "#<HASH-TABLE {1001}>" },
    [keyword("a"), { kind: "vector", items: [1, { kind: "opaque", text: "#.1" }] }],
    { kind: "dotted", items: [1], tail: { kind: "opaque", text: "#.1" } },
    { kind: "unquote", datum: { kind: "opaque", text: "#.1" } },
    0.5,
    Number.NaN,
  ];
  for (const form of REFUSED)
    it(`refuses ${JSON.stringify(form)}`, () => {
      thrown("INVALID_ARGUMENT", () =>
        wire.printMessage({ type: "emacs-rex", form, package: undefined, thread: "t", id: 1 }),
      );
    });

  it("encodes data nested to any depth", () => {
    let form: Sexp = 1;
    for (let depth = 0; depth < 100_000; depth++) form = [form];
    const text = wire.printMessage({ type: "emacs-return", thread: 1, tag: 2, value: form });
    expect(text.length).to.equal("(:emacs-return 1 2 )".length + 200_001);
  });
});
