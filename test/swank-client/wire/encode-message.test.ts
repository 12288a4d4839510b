import { expect } from "chai";
import { keyword, list, NIL, read, type Sexp } from "sexp-parser";
import type { ClientMessage } from "swank-client/protocol";
import * as wire from "swank-client/protocol";
import { thrown } from "../../support/caught.js";

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
  for (const [message, text] of CASES) {
    it(JSON.stringify(text), () => {
      expect(wire.printMessage(message)).to.equal(text);
    });
  }

  const REFUSED: readonly Sexp[] = [
    { kind: "opaque", text: "#.(cl-user::boom)" },
    { kind: "opaque", text: "#<HASH-TABLE {1001}>" },
    [keyword("a"), { kind: "vector", items: [1, { kind: "opaque", text: "#.1" }] }],
    { kind: "dotted", items: [1], tail: { kind: "opaque", text: "#.1" } },
    { kind: "unquote", datum: { kind: "opaque", text: "#.1" } },
    0.5,
    Number.NaN,
  ];
  for (const form of REFUSED) {
    it(`refuses ${JSON.stringify(form)}`, () => {
      thrown("INVALID_ARGUMENT", () =>
        wire.printMessage({ type: "emacs-rex", form, package: undefined, thread: "t", id: 1 }),
      );
    });
  }

  it("encodes data nested to any depth", () => {
    let form: Sexp = 1;
    for (let depth = 0; depth < 100_000; depth++) form = [form];
    const text = wire.printMessage({ type: "emacs-return", thread: 1, tag: 2, value: form });
    expect(text.length).to.equal("(:emacs-return 1 2 )".length + 200_001);
  });
});
