import { once } from "node:events";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { expect } from "chai";
import type { Emacs } from "../support/emacs.js";
import { chosen } from "../support/mcp-user.js";
import { connectFirst, connectSecond, textFrom, type UserAnswer } from "../support/official-clients.js";
import { answer, noQuestion, question } from "../support/swank-mcp-el.js";
import { eachUser, following } from "./user.js";

type Connected = Parameters<typeof textFrom>[0] & { close(): Promise<void> };

const CLIENTS: readonly [what: string, connect: (user: UserAnswer, args: readonly string[]) => Promise<Connected>][] = [
  ["the SDK's first client", (user, args) => connectFirst(user, args)],
  ["the SDK's client in a session", (user, args) => connectSecond("legacy", user, args)],
  ["the SDK's client of revision 2026-07-28", (user, args) => connectSecond({ pin: "2026-07-28" }, user, args)],
];

/** A client's user, who answers when the test does. */
class Hesitant {
  readonly signals: AbortSignal[] = [];
  give: (answer: ElicitResult) => void = () => {};
  #onAsked: () => void = () => {};
  readonly isAsked = new Promise<void>((resolve) => {
    this.#onAsked = resolve;
  });

  readonly answer: UserAnswer = (_message, signal) => {
    this.signals.push(signal);
    this.#onAsked();
    return new Promise((resolve) => {
      this.give = resolve;
    });
  };
}

async function attended(emacs: Emacs): Promise<void> {
  await following(emacs);
  await emacs.openFrame();
}

for (const [what, connect] of CLIENTS) {
  describe(`a question about the agent's own stop in Emacs and in ${what} at once`, function () {
    this.timeout(300_000);
    const user = eachUser(attended);
    let person: Hesitant;
    let client: Connected;

    beforeEach(async () => {
      person = new Hesitant();
      client = await connect(person.answer, ["--attach", String(user().port)]);
      await textFrom(client, "evaluate-lisp", { code: '(let ((x 3)) (error "mine ~a" x))' });
    });
    afterEach(() => client.close());

    const evaluate = () => textFrom(client, "debugger_eval_in_frame", { frame: 0, code: "(+ 40 2)" });

    it("is answered by Emacs first, and the client is told", async () => {
      const { emacs } = user();
      const evaluated = evaluate();
      await person.isAsked;
      await question(emacs, "(+ 40 2)");
      answer(emacs, "y");
      await noQuestion(emacs);
      const [signal] = person.signals;
      // Between two requests, the client learns it from the result.
      if (!what.includes("2026-07-28") && signal?.aborted === false) await once(signal, "abort");
      else person.give(chosen("No"));
      expect(await evaluated).to.match(/^=> 42$/m);
    });

    it("is refused by Emacs first, whatever the client says later", async () => {
      const { emacs } = user();
      const evaluated = evaluate();
      await person.isAsked;
      await question(emacs);
      answer(emacs, "n");
      await noQuestion(emacs);
      person.give(chosen("Yes"));
      expect(await evaluated).to.include("the user said no in Emacs");
    });

    it("is answered by the client first, and Emacs is told", async () => {
      const { emacs } = user();
      const evaluated = evaluate();
      await person.isAsked;
      await question(emacs);
      person.give(chosen("Yes"));
      expect(await evaluated).to.match(/^=> 42$/m);
      await noQuestion(emacs);
      expect(await emacs.messageMatching("answered in the agent's client")).to.include("client: yes");
    });
  });
}
