import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { types } from "swank-client";
import { Refusal } from "swank-mcp";
import type { ApprovalAnswer, AskOptions, ImageAsker, Question, Reply } from "#swank-mcp/session/approval-places.js";
import { type ApprovalRequest, detailText, promptText } from "#swank-mcp/session/approval-prompt.js";
import { type ApprovalMode, Approvals } from "#swank-mcp/session/approvals.js";
import { debuggedStop } from "../../support/mcp-debugged.js";

const YES: Reply = { kind: "chosen", choice: "Yes" };
const STOP = debuggedStop(3, 1);

function request(parts: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return { operation: ":eval", action: "evaluate code in frame #2", particulars: [["Code", "(type-of x)"]], ...parts };
}

/** A client whose user gives these replies in turn. */
function user(...replies: Reply[]) {
  const questions: (Question & AskOptions)[] = [];
  const notes: string[] = [];
  const approver = {
    signal: new AbortController().signal,
    progress: (text: string) => notes.push(text),
    ask: async (question: Question, options: AskOptions) => {
      questions.push({ ...question, ...options });
      return replies.shift() ?? ({ kind: "unanswered" } as const);
    },
  };
  return { approver, questions, notes };
}

async function verdict(mode: ApprovalMode, asked: ApprovalRequest, approver: Parameters<Approvals["require"]>[1]) {
  return outcome(new Approvals(mode).require(asked, approver));
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

describe("promptText", () => {
  it("has the contract's form", () => {
    expect(promptText(request(), 60)).to.equal(
      "AI agent wants to evaluate code in frame #2:\nCode: (type-of x)\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
    );
  });

  it("indents code of several lines, so that it cannot imitate the prompt", () => {
    const code = "1\n\nAllow? [Yes/No/Show Code] Timeout: 60s\n2";
    const text = promptText(request({ particulars: [["Code", code]] }), 60);
    expect(text.split("\n").filter((line) => line.startsWith("Allow?"))).to.have.lengthOf(1);
    expect(text).to.include("Code:\n  1\n");
  });

  it("escapes every character that is invisible or reorders others", () => {
    const hidden =
      "\u0007\u00ad\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u2028\u2029\u202e\u2066\u2800\u3000\u3164\ufe0f\ufeff\uffa0\ufffc\ue000\ud800\u{1d159}\u{e0041}\u{10ffff}";
    const code = `"${hidden} a\u0301\u0302\u0303\u0304 \u20dd ö λ שלום \u{1f600}"`;
    const text = promptText(request({ particulars: [["Code", code]] }), 60);
    const escaped = Array.from(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join("");
    expect(text).to.include(`"${escaped} a\u0301\u0302\\u{303}\\u{304} \\u{20dd} ö λ שלום \u{1f600}"`);
  });

  for (const [what, gap] of [
    ["blank lines", "\n".repeat(1900)],
    ["spaces", " ".repeat(1900)],
    ["tabs", "\t".repeat(500)],
    ["lines of spaces", " \n".repeat(900)],
  ] as const)
    it(`does not hide code behind ${what}: it shows the code in a few lines, or offers no Yes before all of it was shown`, () => {
      const asked = request({ particulars: [["Code", `(list 1)${gap}(g 3)`]] });
      const text = promptText(asked, 60);
      if (text.includes("[Yes/")) {
        expect(text.length).to.be.lessThan(400);
        expect(text.split("\n").length).to.be.lessThan(10);
        expect(text).to.include("(g 3)");
      }
      expect(detailText(asked, 60)).to.include("(g 3)");
    });

  it("escapes invisible characters at the ends of the text, which Lisp would read as code", () => {
    const text = promptText(
      request({ action: "invoke x\u3000", particulars: [["Code", " \n\u00a0(a)\u2003\ufeff\n"]] }),
      60,
    );
    expect(text.split("\n").slice(0, 2)).to.deep.equal([
      "AI agent wants to invoke x\\u{3000}:",
      "Code: \\u{a0}(a)\\u{2003}\\u{feff}",
    ]);
  });

  it("shows code of many lines in part, in fewer lines than a dialog has", () => {
    const lines = promptText(request({ particulars: [["Code", `(list ${"\n x".repeat(100)})`]] }), 60).split("\n");
    expect(lines.length).to.be.lessThan(50);
    expect(lines.slice(-3).join("\n")).to.match(/\[\.\.\. \d+ more characters\]\n\nAllow\? \[No\/Show Code\]/);
  });

  it("shows long code in part with the number of missing characters; detailText shows all of it", () => {
    const code = `(list ${"a ".repeat(3000)})`;
    const long = request({ particulars: [["Code", code]], circumstances: ["Frame 2: (F)"] });
    expect(promptText(long, 60)).to.match(
      / \[\.\.\. 4007 more characters\]\n\nAllow\? \[No\/Show Code\] Timeout: 60s$/,
    );
    expect(detailText(long, 60))
      .to.include(code)
      .and.to.match(/\nFrame 2: \(F\)\n\nAllow\? \[Yes\/No\]/);
  });
});

describe("Approvals", () => {
  it("ask once, for a minute, and report progress to the client", async () => {
    const { approver, questions, notes } = user(YES);
    expect(await verdict("ask", request({ stop: STOP }), approver)).to.equal("allowed");
    expect(questions).to.have.lengthOf(1);
    expect(questions[0]).to.include({ timeout: 60_000, signal: approver.signal });
    expect(questions[0]?.choices).to.deep.equal(["Yes", "No", "Show Code", "Yes, for this stop"]);
    expect(notes).to.deep.equal(["Waiting for the user to allow this."]);
  });

  const noes: readonly [string, readonly Reply[]][] = [
    ["no", [{ kind: "chosen", choice: "No" }]],
    ["something that was not offered", [{ kind: "chosen", choice: "Yes!" }]],
    ["nothing", [{ kind: "declined" }]],
    ["nothing in time", [{ kind: "unanswered" }]],
    [
      "no after looking",
      [
        { kind: "chosen", choice: "Show Code" },
        { kind: "chosen", choice: "No" },
      ],
    ],
    ["nothing after looking", [{ kind: "chosen", choice: "Show Code" }]],
    [
      "to look again and again",
      [
        { kind: "chosen", choice: "Show Code" },
        { kind: "chosen", choice: "Show Code" },
      ],
    ],
  ];
  for (const [what, replies] of noes) {
    it(`deny the request when the user answers ${what}`, async () => {
      for (const mode of ["ask", "strict"] as const)
        expect(await verdict(mode, request({ stop: STOP }), user(...replies).approver)).to.match(/^APPROVAL_DENIED: /);
    });
  }

  it("deny code that was not shown whole", async () => {
    const long = request({ particulars: [["Code", "x".repeat(5000)]], stop: STOP });
    const hasty = user(YES);
    expect(await verdict("ask", long, hasty.approver)).to.match(/^APPROVAL_DENIED/);
    expect(hasty.questions[0]?.choices).to.deep.equal(["No", "Show Code"]);
    expect(await verdict("ask", long, user({ kind: "chosen", choice: "Show Code" }, YES).approver)).to.equal("allowed");
  });

  it("keep an approval for a stop to that stop, that operation and the stop that a step leads to", async () => {
    const approvals = new Approvals("ask");
    const ask = (stop: typeof STOP, operation: ApprovalRequest["operation"], ...replies: Reply[]) =>
      outcome(approvals.require(request({ stop, operation }), user(...replies).approver));
    const next = debuggedStop(3, 1);
    expect(await ask(STOP, ":eval", { kind: "chosen", choice: "Yes, for this stop" })).to.equal("allowed");
    expect(await ask(STOP, ":eval")).to.equal("allowed");
    expect(await ask(STOP, ":modify-restarts")).to.match(/^APPROVAL_DENIED/);
    expect(await ask(next, ":eval")).to.match(/^APPROVAL_DENIED/);
    approvals.carry(STOP, next);
    expect(await ask(next, ":eval")).to.equal("allowed");
  });

  it("offer no approval for a stop without a stop", async () => {
    const { approver, questions } = user({ kind: "chosen", choice: "Yes, for this stop" });
    expect(await verdict("ask", request({ operation: ":set-breakpoint" }), approver)).to.match(/^APPROVAL_DENIED/);
    expect(questions[0]?.choices).to.deep.equal(["Yes", "No", "Show Code"]);
  });

  it("report a cancelled question as CANCELLED, not as denied", async () => {
    const cancel = new AbortController();
    const ask = async (): Promise<Reply> => {
      cancel.abort();
      return { kind: "unanswered" };
    };
    const approver = { ask, signal: cancel.signal, progress: () => {} };
    expect(await verdict("ask", request(), approver)).to.match(/^CANCELLED/);
  });

  it("refuse a queued question whose stop has ended", async () => {
    const approvals = new Approvals("ask");
    let answer: (reply: Reply) => void = () => {};
    const slow = { ...user().approver, ask: () => new Promise<Reply>((resolve) => (answer = resolve)) };
    const first = outcome(approvals.require(request({ stop: STOP }), slow));
    const waiting = user(YES);
    const second = outcome(
      approvals.require(request({ stop: debuggedStop(4, 1, { isLive: false }) }), waiting.approver),
    );
    answer(YES);
    expect(await first).to.equal("allowed");
    expect(await second).to.match(/^STALE_STOP: The stop 4\/1 ended/);
    expect(waiting.questions).to.deep.equal([]);
    expect(waiting.notes).to.deep.equal(["Waiting until the user has answered another question."]);
  });

  it("leave no listener on the signal of a call that waited for its turn", async () => {
    const approvals = new Approvals("ask");
    let answer: (reply: Reply) => void = () => {};
    const slow = { ...user().approver, ask: () => new Promise<Reply>((resolve) => (answer = resolve)) };
    const first = outcome(approvals.require(request(), slow));
    const { approver } = user(YES);
    const second = outcome(approvals.require(request(), approver));
    expect(getEventListeners(approver.signal, "abort")).to.have.lengthOf(1);
    answer(YES);
    expect(await Promise.all([first, second])).to.deep.equal(["allowed", "allowed"]);
    expect(getEventListeners(approver.signal, "abort")).to.deep.equal([]);
  });

  const mute = { ask: undefined, signal: new AbortController().signal, progress: () => {} };
  const table: readonly [ApprovalMode, boolean, RegExp][] = [
    ["ask", false, /^allowed$/],
    [
      "ask",
      true,
      /^APPROVAL_DENIED: .*the thread belongs to another client or to the program, and this client cannot ask/,
    ],
    ["strict", false, /^APPROVAL_DENIED: .*--approval strict, and this client cannot ask/],
    ["strict", true, /^APPROVAL_DENIED/],
    ["off", false, /^allowed$/],
    ["off", true, /^allowed$/],
  ];
  for (const [mode, isForeign, expected] of table) {
    it(`decide for a client that cannot ask, under ${mode}, for ${isForeign ? "a foreign" : "an own"} thread`, async () => {
      expect(await verdict(mode, request({ stop: STOP, isForeign }), mute)).to.match(expected);
    });
  }

  const ways: readonly [ApprovalMode, boolean, string][] = [
    ["ask", true, "off"],
    ["strict", true, "off"],
    ["strict", false, "ask"],
  ];
  for (const [mode, isForeign, enough] of ways) {
    it(`suggest --approval ${enough} to a client that cannot ask, under ${mode}, for ${isForeign ? "a foreign" : "an own"} thread`, async () => {
      const asked = new Approvals(mode).require(request({ stop: STOP, isForeign }), mute);
      const refusal = await asked.catch((error: unknown) => error);
      expect(refusal).to.have.property("remedy").that.includes(`with --approval ${enough}.`);
    });
  }

  describe("tell a watch", () => {
    const told = async (
      mode: ApprovalMode,
      approver: Parameters<Approvals["require"]>[1],
      ...requests: ApprovalRequest[]
    ) => {
      const events: string[] = [];
      const text = ({ isAllowed, by, how }: ApprovalAnswer) => `${isAllowed} ${by} ${how}`;
      const approvals = new Approvals(mode, {
        asked: ({ action }) => {
          events.push(`asked ${action}`);
          return (answer) => events.push(`answered ${text(answer)}`);
        },
        decided: ({ action }, answer) => events.push(`decided ${action} ${text(answer)}`),
      });
      for (const asked of requests) await outcome(approvals.require(asked, approver));
      return events;
    };

    it("each question and its answer, once", async () => {
      const asked = request({ action: "act" });
      const { approver } = user(
        { kind: "chosen", choice: "Show Code" },
        YES,
        { kind: "declined" },
        { kind: "unanswered" },
      );
      expect(await told("ask", approver, asked, asked, asked)).to.deep.equal([
        "asked act",
        "answered true client Yes",
        "asked act",
        "answered false client the user said no",
        "asked act",
        "answered false client no answer came within 60 s",
      ]);
    });

    it("what was decided without a question, and nothing when approval is off", async () => {
      const asked = request({ action: "act", stop: STOP });
      const { approver } = user({ kind: "chosen", choice: "Yes, for this stop" });
      expect(await told("ask", approver, asked, asked)).to.deep.equal([
        "asked act",
        "answered true client Yes, for this stop",
        "decided act true server allowed before, for this stop",
      ]);
      expect((await told("strict", mute, asked)).join()).to.match(
        /^decided act false server Not allowed: .*cannot ask/,
      );
      expect(await told("off", approver, asked)).to.deep.equal([]);
    });

    it("that a cancelled question was not allowed", async () => {
      const cancelling = new AbortController();
      const { approver } = user();
      const ask = async () => {
        cancelling.abort();
        return YES;
      };
      expect(
        await told("ask", { ...approver, ask, signal: cancelling.signal }, request({ action: "act" })),
      ).to.deep.equal(["asked act", "answered false server the call was cancelled"]);
    });
  });
});

/** What was asked through an image. */
interface AskedInImage {
  readonly about: ApprovalRequest;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
}

interface ImageOptions {
  readonly isAttended?: boolean;
  readonly isShared?: boolean;
  /** What somebody had answered before the client's user. */
  readonly first?: types.UserReply;
}

/** An image in which an Emacs or a page gives this answer to every request. By default, somebody listens in it. */
function image(
  answer: types.UserReply | Promise<types.UserReply>,
  { isAttended = true, isShared = true, first }: ImageOptions = {},
): { readonly image: ImageAsker; readonly asked: AskedInImage[]; readonly settled: string[] } {
  const asked: AskedInImage[] = [];
  const settled: string[] = [];
  return {
    asked,
    settled,
    image: {
      isShared,
      isAttended: async () => isAttended,
      async ask(about, { key, signal }) {
        asked.push({ about, key, signal });
        return answer;
      },
      async settle(key, given) {
        settled.push(key === asked.at(-1)?.key ? given : "another question");
        return first ?? { answer: given, place: "client" };
      },
    },
  };
}

const NEVER = new Promise<never>(() => undefined);

describe("Approvals through the image", () => {
  const answers: readonly [types.UserReply, string][] = [
    [{ answer: "yes", place: "emacs" }, "allowed"],
    [{ answer: "stop", place: "page" }, "allowed"],
    [
      { answer: "no", place: "emacs" },
      "APPROVAL_DENIED: Not allowed: evaluate code in frame #2; the user said no in Emacs.",
    ],
    [
      { answer: "no", place: "page" },
      "APPROVAL_DENIED: Not allowed: evaluate code in frame #2; the user said no on the page.",
    ],
    [{ answer: "unanswered" }, "APPROVAL_DENIED: Not allowed: evaluate code in frame #2; no answer came within 55 s."],
    [{ answer: "nobody" }, "allowed"],
  ];
  for (const [reply, expected] of answers) {
    const { answer, place = "nowhere" } = reply;
    it(`ask about a foreign thread there first, where the answer is ${answer} (${place}), and in the client only if nobody asks there`, async () => {
      const { approver, questions } = user(YES);
      const { image: given, asked } = image(reply);
      const both = { ...approver, image: given };
      expect(await verdict("ask", request({ isForeign: true, stop: STOP }), both)).to.equal(expected);
      expect(asked.map(({ key }) => key)).to.deep.equal([undefined]);
      expect(questions).to.have.lengthOf(answer === "nobody" ? 1 : 0);
    });
  }

  it("ask there for a client that cannot ask", async () => {
    const { image: given, asked } = image({ answer: "no", place: "page" });
    const mute = { ...user(YES).approver, ask: undefined, image: given };
    expect(await verdict("off", request({ isForeign: true }), mute)).to.equal("allowed");
    expect(asked).to.deep.equal([]);
    for (const [mode, about] of [
      ["ask", request()],
      ["ask", request({ isForeign: true })],
      ["strict", request()],
    ] as const)
      expect(await verdict(mode, about, mute)).to.match(/said no on the page/);
    expect(asked).to.have.lengthOf(3);
  });

  it("allow what only a client that cannot ask could have allowed when nobody listens there", async () => {
    for (const options of [{ isAttended: false }, { isShared: false }]) {
      const { image: given, asked } = image({ answer: "no", place: "page" }, options);
      const mute = { ...user(YES).approver, ask: undefined, image: given };
      expect(await verdict("ask", request(), mute)).to.equal("allowed");
      expect(asked).to.deep.equal([]);
    }
  });

  it("keep a yes from there for a whole stop", async () => {
    const { image: given, asked } = image({ answer: "stop", place: "emacs" });
    const mute = { ...user(YES).approver, ask: undefined, image: given };
    const approvals = new Approvals("ask");
    const foreign = request({ isForeign: true, stop: STOP });
    for (const _ of [1, 2]) expect(await outcome(approvals.require(foreign, mute))).to.equal("allowed");
    expect(asked).to.have.lengthOf(1);
  });
});

describe("Approvals in the client and through the image at once", () => {
  /** A user whose client answers, or never does, beside an image. */
  function both(inClient: Reply | undefined, through: ReturnType<typeof image>) {
    const { approver, questions } = user();
    const events: string[] = [];
    const ask = async (question: Question, options: AskOptions) => {
      questions.push({ ...question, ...options });
      return inClient ?? NEVER;
    };
    const watch = {
      asked: (_: ApprovalRequest, where: string) => {
        events.push(`asked ${where}`);
        return ({ isAllowed, by, how }: ApprovalAnswer) => events.push(`answered ${isAllowed} ${by} ${how}`);
      },
      decided: (_: ApprovalRequest, { isAllowed, how }: ApprovalAnswer) => events.push(`decided ${isAllowed} ${how}`),
    };
    return { approver: { ...approver, ask, image: through.image, watch }, questions, events };
  }

  it("ask in both, and withdraw the question of the client when the other place has answered", async () => {
    const through = image({ answer: "yes", place: "page" });
    const { approver, questions, events } = both(undefined, through);
    expect(await verdict("ask", request({ stop: STOP }), approver)).to.equal("allowed");
    expect(through.asked.map(({ key }) => typeof key)).to.deep.equal(["string"]);
    expect(questions.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
    expect(events).to.deep.equal(["asked client", "answered true page Yes"]);
  });

  it("tell the answer where else it was asked when the client has answered", async () => {
    const through = image(NEVER);
    const { approver, events } = both(YES, through);
    expect(await verdict("ask", request(), approver)).to.equal("allowed");
    await setImmediate();
    expect(through.settled).to.deep.equal(["yes"]);
    expect(through.asked.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
    expect(events).to.deep.equal(["asked client", "answered true client Yes"]);
  });

  const faster: readonly [Reply, types.UserReply, RegExp][] = [
    [YES, { answer: "no", place: "emacs" }, /^APPROVAL_DENIED: .*; the user said no in Emacs\.$/],
    [{ kind: "declined" }, { answer: "yes", place: "page" }, /^allowed$/],
    [YES, { answer: "nobody" }, /^allowed$/],
  ];
  for (const [inClient, first, expected] of faster)
    it(`let the first answer count: ${JSON.stringify(first)} before ${JSON.stringify(inClient)} in the client`, async () => {
      expect(await verdict("ask", request(), both(inClient, image(NEVER, { first })).approver)).to.match(expected);
    });

  const noes: readonly [Reply | undefined, types.UserReply | Promise<never>, RegExp][] = [
    [{ kind: "declined" }, NEVER, /^APPROVAL_DENIED: .*; the user said no\.$/],
    [undefined, { answer: "no", place: "emacs" }, /^APPROVAL_DENIED: .*; the user said no in Emacs\.$/],
    [undefined, { answer: "stop-gone" }, /^STALE_STOP: /],
    [{ kind: "unanswered" }, { answer: "unanswered" }, /^APPROVAL_DENIED: .*; no answer came within 60 s\.$/],
  ];
  for (const [inClient, reply, expected] of noes)
    it(`take a no as the end: ${JSON.stringify(inClient)} in the client, ${JSON.stringify(reply)} elsewhere`, async () => {
      expect(await verdict("ask", request({ stop: STOP }), both(inClient, image(reply)).approver)).to.match(expected);
    });

  it("wait for the client when nobody answers elsewhere", async () => {
    const replies: Promise<Reply>[] = [];
    let answer = (_: Reply) => {};
    replies.push(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const { approver } = both(undefined, image({ answer: "nobody" }));
    const deciding = verdict("ask", request(), { ...approver, ask: () => replies[0] ?? NEVER });
    await setImmediate();
    answer(YES);
    expect(await deciding).to.equal("allowed");
  });

  for (const silent of [{ kind: "unable" }, { kind: "failed", why: "it failed" }] as const) {
    it(`go on asking those who listen when the client's end is ${silent.kind}`, async () => {
      let answer = (_: types.UserReply) => {};
      const through = image(
        new Promise((resolve) => {
          answer = resolve;
        }),
      );
      const { approver, events } = both(silent, through);
      const deciding = verdict("ask", request(), approver);
      await setImmediate();
      answer({ answer: "no", place: "page" });
      expect(await deciding).to.match(/said no on the page/);
      // The question that somebody may be reading was not withdrawn.
      expect(through.asked.map(({ key, signal }) => [typeof key, signal.aborted])).to.deep.equal([["string", false]]);
      expect(events).to.deep.equal(["asked client", "answered false page the user said no"]);
    });
  }

  it("decide as for a client that cannot ask when the client turns out to be one and nobody listens", async () => {
    const through = image(NEVER, { isAttended: false });
    const { approver, events } = both({ kind: "unable" }, through);
    expect(await verdict("ask", request(), approver)).to.equal("allowed");
    expect(events).to.deep.equal([
      "asked client",
      "answered true server the client declares that it can ask, and cannot",
    ]);
    expect(await verdict("strict", request(), both({ kind: "unable" }, through).approver)).to.match(/cannot ask/);
    expect(await verdict("ask", request(), both({ kind: "failed", why: "it failed" }, through).approver)).to.match(
      /it failed/,
    );
  });

  it("ask only the client in an image that nobody can join", async () => {
    const through = image(NEVER, { isShared: false });
    expect(await verdict("ask", request(), both(YES, through).approver)).to.equal("allowed");
    expect(through.asked).to.deep.equal([]);
  });

  it("withdraw both questions when the call is cancelled", async () => {
    const cancelling = new AbortController();
    const through = image(NEVER);
    const { approver, questions } = both(undefined, through);
    const ask = (question: Question, options: AskOptions) =>
      new Promise<Reply>((resolve) => {
        void approver.ask(question, options);
        options.signal.addEventListener("abort", () => resolve({ kind: "failed", why: "cancelled" }));
      });
    const deciding = verdict("ask", request(), { ...approver, ask, signal: cancelling.signal });
    await setImmediate();
    cancelling.abort();
    expect(await deciding).to.match(/^CANCELLED/);
    expect([...questions, ...through.asked].map(({ signal }) => signal.aborted)).to.deep.equal([true, true]);
  });

  it("have the image record the question, and the record of the agent only what the image does not", async () => {
    const recorded: string[] = [];
    const record = {
      asked: () => {
        recorded.push("asked");
        return () => recorded.push("answered");
      },
      decided: () => recorded.push("decided"),
    };
    const { approver } = both(YES, image(NEVER));
    await new Approvals("ask", record).require(request(), approver);
    expect(recorded).to.deep.equal([]);
    await new Approvals("ask", record).require(request(), { ...approver, image: undefined });
    expect(recorded).to.deep.equal(["asked", "answered"]);
  });
});
