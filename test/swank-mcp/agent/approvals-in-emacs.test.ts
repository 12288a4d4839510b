import { expect } from "chai";
import type { types } from "swank-client";
import { Refusal } from "swank-mcp";
import { type ApprovalRequest, Approvals, type AskInEmacs, type Reply } from "#swank-mcp/session/approvals.js";
import { debuggedStop } from "../../support/mcp-debugged.js";

const YES: Reply = { kind: "chosen", choice: "Yes" };
const STOP = debuggedStop(3, 1);

function request(parts: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return { operation: ":eval", action: "evaluate code in frame #2", particulars: [["Code", "(type-of x)"]], ...parts };
}

/** A client whose user says yes, and counts the questions. */
function user() {
  const questions: string[] = [];
  const approver = {
    signal: new AbortController().signal,
    progress: () => undefined,
    ask: async ({ message }: { readonly message: string }) => {
      questions.push(message);
      return YES;
    },
  };
  return { approver, questions };
}

/** An Emacs that gives this answer to every request, and records it. */
function askingInEmacs(asked: ApprovalRequest[], answer: types.UserAnswer): AskInEmacs {
  return async (about) => {
    asked.push(about);
    return answer;
  };
}

async function outcome(approval: Promise<void>): Promise<string> {
  try {
    await approval;
    return "allowed";
  } catch (error) {
    if (error instanceof Refusal) return `${error.code}: ${error.message}`;
    throw error;
  }
}

async function verdict(
  mode: "ask" | "strict" | "off",
  about: ApprovalRequest,
  approver: Parameters<Approvals["require"]>[1],
) {
  return outcome(new Approvals(mode).require(about, approver));
}

describe("Approvals with Emacs", () => {
  const inEmacs: readonly [types.UserAnswer, string][] = [
    ["yes", "allowed"],
    ["stop", "allowed"],
    ["no", "APPROVAL_DENIED: Not allowed: evaluate code in frame #2; the user said no in Emacs."],
    ["unanswered", "APPROVAL_DENIED: Not allowed: evaluate code in frame #2; no answer came within 55 s in Emacs."],
    ["nobody", "allowed"],
  ];
  for (const [answer, expected] of inEmacs) {
    it(`ask about a foreign thread in Emacs first, where the answer is ${answer}, and in the client only if nobody asks there`, async () => {
      const { approver, questions } = user();
      const asked: ApprovalRequest[] = [];
      const both = { ...approver, askInEmacs: askingInEmacs(asked, answer) };
      expect(await verdict("ask", request({ isForeign: true, stop: STOP }), both)).to.equal(expected);
      expect(asked).to.have.lengthOf(1);
      expect(questions).to.have.lengthOf(answer === "nobody" ? 1 : 0);
      await verdict("ask", request(), both);
      expect(asked).to.have.lengthOf(1);
    });
  }

  it("ask in Emacs for a client that cannot ask, about foreign threads, and under strict about all", async () => {
    const asked: ApprovalRequest[] = [];
    const mute = { ...user().approver, ask: undefined, askInEmacs: askingInEmacs(asked, "yes") };
    expect(await verdict("ask", request(), mute)).to.equal("allowed");
    expect(await verdict("off", request({ isForeign: true }), mute)).to.equal("allowed");
    expect(asked).to.deep.equal([]);
    expect(await verdict("ask", request({ isForeign: true }), mute)).to.equal("allowed");
    expect(await verdict("strict", request(), mute)).to.equal("allowed");
    expect(asked).to.have.lengthOf(2);
  });

  it("keep a yes of Emacs for a whole stop", async () => {
    const asked: ApprovalRequest[] = [];
    const mute = { ...user().approver, ask: undefined, askInEmacs: askingInEmacs(asked, "stop") };
    const approvals = new Approvals("ask");
    const foreign = request({ isForeign: true, stop: STOP });
    for (const _ of [1, 2]) expect(await outcome(approvals.require(foreign, mute))).to.equal("allowed");
    expect(asked).to.have.lengthOf(1);
  });
});
