import { expect } from "chai";
import { keyword, list, NIL, read } from "sexp-parser";
import type { ClientMessage, SwankMessage } from "swank-client/protocol";
import { collectUntil, onBothJoints } from "../../support/fake-connection.js";

/** What a Lisp thread waits on, and the answer that lets it go on. */
const ANSWERS: readonly (readonly [sent: string, answer: string])[] = [
  ["(:ping 5 82)", "(:emacs-pong 5 82)"],
  ['(:write-string "x" nil 5)', "(:write-done 5)"],
  ['(:write-string "x" :repl-result 6)', "(:write-done 6)"],
  ["(:read-string 5 83)", '(:emacs-return-string 5 83 "")'],
  ['(:y-or-n-p 5 84 "Really?")', "(:emacs-return 5 84 nil)"],
  ['(:read-from-minibuffer 5 85 "Name:" "x")', "(:emacs-return 5 85 nil)"],
  [
    '(:eval 5 86 "(point)")',
    '(:emacs-return 5 86 (:error "not-supported" "This client is not Emacs and evaluates no Emacs Lisp."))',
  ],
  ['(:ed-rpc 5 87 "find-file" "/etc/passwd")', '(:emacs-return 5 87 (:ed-rpc-forbidden "find-file"))'],
  ['(:inspect (:title "x") 5 88)', "(:emacs-return 5 88 nil)"],
];

/** What nobody waits on; an answer to the first would make Swank 2.27 close the connection. */
const UNANSWERED: readonly string[] = [
  '(:write-string "x")',
  '(:write-string "x" :repl-result)',
  '(:write-string "x" nil nil)',
  "(:read-aborted 5 83)",
  '(:eval-no-wait "(beep)")',
  '(:ed-rpc-no-wait "beep")',
  '(:inspect (:title "x") nil nil)',
  '(:debug 5 1 ("m" "T" nil) nil nil nil)',
  "(:brand-new 5 6)",
  "(:ping 5)",
  "(:test-delay 10)",
];

describe("Connection answers to Lisp threads", () => {
  for (const [sent, answer] of ANSWERS)
    onBothJoints(`answers ${sent}`, async ({ peer }) => {
      peer.send(sent);
      expect(await peer.next()).to.equal(answer);
    });

  onBothJoints("answers nothing else", async ({ peer }) => {
    peer.send(...UNANSWERED, "(:ping 1 1)");
    await peer.next("(:emacs-pong 1 1)");
    expect(peer.received).to.deep.equal(["(:emacs-pong 1 1)"]);
  });

  onBothJoints(
    "answers while requests wait, and before it calls listeners",
    async ({ connection, peer }) => {
      const reply = connection.request(read("(cl:loop)"), { label: "busy" });
      const { id } = await peer.nextRequest();
      const answered: number[] = [];
      connection.on("event", (message) => {
        if (message.type === "ping") answered.push(connection.isOpen ? message.tag : -1);
        if (message.type === "ping") throw new Error("A listener fails.");
      });
      peer.send("(:ping 5 1)", "(:ping 5 2)");
      await peer.next("(:emacs-pong 5 1)");
      await peer.next("(:emacs-pong 5 2)");
      expect(answered).to.deep.equal([1, 2]);
      peer.returnOk(id, "1");
      await reply;
    },
    () => ({ onListenerError: () => {} }),
  );

  onBothJoints(
    "lets the application answer synchronously",
    async ({ peer }) => {
      peer.send("(:read-string 5 83)", "(:ping 5 84)");
      expect(await peer.next()).to.equal('(:emacs-return-string 5 83 "41\n")');
      expect(await peer.next()).to.equal("(:emacs-pong 5 84)");
    },
    () => ({ replyPolicy: answerInput }),
  );

  onBothJoints(
    "lets the application answer later",
    async ({ connection, peer }) => {
      const events = collectUntil(connection, "y-or-n-p");
      peer.send('(:y-or-n-p 5 84 "Really?")');
      await events;
      connection.send({ type: "emacs-return", thread: 5, tag: 84, value: list(keyword("ok"), "yes") });
      expect(await peer.next()).to.equal('(:emacs-return 5 84 (:ok "yes"))');
      expect(peer.received.length).to.equal(1);
    },
    () => ({ replyPolicy: () => "later" }),
  );

  const reported: unknown[] = [];
  onBothJoints(
    "answers by default if the application's answer fails",
    async ({ peer }) => {
      reported.length = 0;
      peer.send("(:read-string 5 83)", '(:y-or-n-p 5 84 "Really?")');
      expect(await peer.next()).to.equal('(:emacs-return-string 5 83 "")');
      expect(await peer.next()).to.equal("(:emacs-return 5 84 nil)");
      expect(reported).to.have.length(2);
      expect(reported[0]).to.have.property("message", "no answer");
      expect(reported[1]).to.have.property("code", "INVALID_ARGUMENT");
    },
    () => ({ replyPolicy: failToAnswer, onListenerError: (error) => reported.push(error) }),
  );
});

function answerInput(message: SwankMessage): ClientMessage | undefined {
  if (message.type !== "read-string") return undefined;
  return { type: "emacs-return-string", thread: message.thread, tag: message.tag, text: "41\n" };
}

function failToAnswer(message: SwankMessage): ClientMessage {
  if (message.type === "read-string") throw new Error("no answer");
  return { type: "emacs-return", thread: 5, tag: 84, value: [NIL, { kind: "opaque", text: "#.1" }] };
}
