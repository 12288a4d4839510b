import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { defineTool, type ToolServer, textAnswer } from "swank-mcp";
import * as z from "zod";
import { outcomeOf } from "#swank-mcp/call/ledger.js";
import type { CallRecorder } from "#swank-mcp/call/recorder.js";
import { McpInProcess } from "../../support/mcp-in-process.js";
import { type Answering, answered, type Finished, finished } from "../../support/mcp-results.js";
import { toolServer } from "../../support/mcp-server.js";

/** The code of each call that the tool below has executed. */
let done: string[] = [];

/** A tool that needs confirmation, but no Lisp. */
const risky = defineTool({
  name: "risky",
  family: "core",
  effect: "sets-breakpoint",
  title: "Risky",
  description: "Does something that a person must allow.",
  input: () => z.strictObject({ code: z.string(), lines: z.int().default(1) }),
  async plan({ code, lines }) {
    const text = Array.from({ length: lines }, () => code).join("\n");
    return {
      request: { operation: ":eval", action: "do it", particulars: [["Code", text]] },
      act: async () => {
        done.push(code);
        return textAnswer(`did ${code}`);
      },
    };
  },
});

/** @param ended - Called with the name and the outcome of each call that has ended. */
function server(args: readonly string[] = [], ended: (name: unknown, outcome: string) => void = () => {}): ToolServer {
  const recorder: CallRecorder = { begin: ({ name }) => ({ end: (answer) => ended(name, outcomeOf(answer)) }) };
  const options = { catalogue: [risky], recorders: [recorder] };
  return toolServer(() => Promise.reject(new Error("no Lisp here")), args, options);
}

function denial({ isError, content, structuredContent }: Finished): string {
  expect(isError).to.equal(true);
  expect(structuredContent).to.have.nested.property("error.data.type", "APPROVAL_DENIED");
  expect(content[0]?.text).to.include("Nothing was done");
  return content[0]?.text ?? "";
}

/** A result of revision 2025-11-25, which has no type. */
function finishedCall(result: unknown): Finished {
  return finished.parse({ resultType: "complete", ...Object(result) });
}

describe("SuspendedCalls", () => {
  let peer: McpInProcess;

  beforeEach(() => {
    done = [];
    peer = McpInProcess.modern(server());
  });
  afterEach(() => peer.close());

  it("asks first, and acts when the same call arrives with a yes", async () => {
    const question = await peer.ask("risky", { code: "(a)" });
    const { message, requestedSchema } = question.inputRequests.approval.params;
    expect(message).to.equal("AI agent wants to do it:\nCode: (a)\n\nAllow? [Yes/No/Show Code] Timeout: 60s");
    expect(requestedSchema.properties.answer.enum).to.deep.equal(["Yes", "No", "Show Code"]);
    expect(done).to.deep.equal([]);
    const { content } = await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    expect(content[0]?.text).to.equal("did (a)");
    expect(done).to.deep.equal(["(a)"]);
  });

  it("shows the complete code in a second question", async () => {
    const args = { code: "(long)", lines: 60 };
    const first = await peer.ask("risky", args);
    expect(first.inputRequests.approval.params.requestedSchema.properties.answer.enum).to.deep.equal([
      "No",
      "Show Code",
    ]);
    const second = await peer.ask("risky", args, answered(first, "Show Code"));
    expect(second.requestState).to.not.equal(first.requestState);
    expect(second.inputRequests.approval.params.message.match(/\(long\)/g)).to.have.lengthOf(60);
    await peer.finish("risky", args, answered(second, "Yes"));
    expect(done).to.deep.equal(["(long)"]);
  });

  const noes: readonly [what: string, responses: unknown, why: RegExp][] = [
    ["the user declines", { approval: { action: "decline" } }, /the user said no/],
    ["the user dismisses it", { approval: { action: "cancel" } }, /the user said no/],
    ["the user says No", { approval: { action: "accept", content: { answer: "No" } } }, /the user said no/],
    [
      "the answer is not a choice",
      { approval: { action: "accept", content: { answer: "yes" } } },
      /not one of the choices/,
    ],
    ["the answer names nothing", { approval: { action: "accept" } }, /names no choice/],
    ["the answer is malformed", { approval: { action: "approve" } }, /malformed/],
    ["there is no answer", {}, /malformed/],
    ["there are no answers at all", undefined, /malformed/],
  ];
  for (const [what, inputResponses, why] of noes) {
    it(`does nothing if ${what}, and refuses a later yes`, async () => {
      const { requestState } = await peer.ask("risky", { code: "(a)" });
      const given = { requestState, ...(inputResponses === undefined ? {} : { inputResponses }) };
      expect(denial(await peer.finish("risky", { code: "(a)" }, given))).to.match(why);
      const late = await peer.finish("risky", { code: "(a)" }, answered(fakeQuestion(requestState), "Yes"));
      expect(denial(late)).to.include("already answered");
      expect(done).to.deep.equal([]);
    });
  }

  const attacks: readonly [what: string, attack: (given: Answering) => Answering][] = [
    ["an altered id", (given) => ({ ...given, requestState: String(given.requestState).replace(/^./, flip) })],
    ["a shortened id", (given) => ({ ...given, requestState: String(given.requestState).slice(0, -1) })],
    ["text after the id", (given) => ({ ...given, requestState: `${given.requestState}.x` })],
    ["blanks around the state", (given) => ({ ...given, requestState: ` ${given.requestState} ` })],
    ["an empty state", (given) => ({ ...given, requestState: "" })],
    ["a state that the client made up", (given) => ({ ...given, requestState: "e30.e30" })],
  ];
  for (const [what, attack] of attacks) {
    it(`refuses a yes with ${what}, and leaves the real question open`, async () => {
      const question = await peer.ask("risky", { code: "(a)" });
      const forged = await peer.finish("risky", { code: "(a)" }, attack(answered(question, "Yes")));
      expect(denial(forged)).to.include("is not this server's");
      expect(done).to.deep.equal([]);
      await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
      expect(done).to.deep.equal(["(a)"]);
    });
  }

  it("asks instead of acting if a yes arrives without a question", async () => {
    const { inputResponses } = answered(fakeQuestion(""), "Yes");
    await peer.ask("risky", { code: "(a)" }, { inputResponses });
    expect(done).to.deep.equal([]);
  });

  it("acts once even if the yes is repeated", async () => {
    const question = await peer.ask("risky", { code: "(a)" });
    await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    const again = await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    expect(denial(again)).to.include("already answered");
    expect(done).to.deep.equal(["(a)"]);
  });

  it("logs every refused reply", async () => {
    const records: [name: unknown, outcome: string][] = [];
    const logged = McpInProcess.modern(server([], (...record) => records.push(record)));
    const question = await logged.ask("risky", { code: "(a)" });
    await logged.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    await logged.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    expect(records).to.deep.equal([
      ["risky", "ok"],
      ["risky", "APPROVAL_DENIED"],
    ]);
    await logged.close();
  });

  it("acts once if two yeses arrive at the same time", async () => {
    const question = await peer.ask("risky", { code: "(a)" });
    const yes = answered(question, "Yes");
    const both = await Promise.all([
      peer.finish("risky", { code: "(a)" }, yes),
      peer.finish("risky", { code: "(a)" }, yes),
    ]);
    expect(both.filter(({ isError }) => isError)).to.have.lengthOf(1);
    expect(done).to.deep.equal(["(a)"]);
  });

  it("refuses a yes with other code, and then the question's own call, too", async () => {
    const question = await peer.ask("risky", { code: "(a)" });
    const swapped = await peer.finish("risky", { code: "(evil)" }, answered(question, "Yes"));
    expect(denial(swapped)).to.include("belongs to a different call");
    const own = await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
    expect(denial(own)).to.include("already answered");
    expect(done).to.deep.equal([]);
  });

  it("refuses another connection's yes", async () => {
    const other = McpInProcess.modern(server());
    const question = await peer.ask("risky", { code: "(a)" });
    denial(await other.finish("risky", { code: "(a)" }, answered(question, "Yes")));
    expect(done).to.deep.equal([]);
    await other.close();
  });

  it("asks one question at a time", async () => {
    const first = await peer.ask("risky", { code: "(a)" });
    const second = peer.ask("risky", { code: "(b)" });
    await peer.request("tools/list");
    expect(await Promise.race([second, setImmediate("waiting")])).to.equal("waiting");
    await peer.finish("risky", { code: "(a)" }, answered(first, "No"));
    await peer.finish("risky", { code: "(b)" }, answered(await second, "Yes"));
    expect(done).to.deep.equal(["(b)"]);
  });

  it("drops a call that the client cancels while its question is queued", async () => {
    const first = await peer.ask("risky", { code: "(a)" });
    const waiting = peer.request("tools/call", { name: "risky", arguments: { code: "(b)" } });
    peer.cancel();
    await peer.request("tools/list");
    expect(await Promise.race([waiting, setImmediate("unanswered")])).to.equal("unanswered");
    // The cancelled call must not keep its place in the queue.
    await peer.finish("risky", { code: "(a)" }, answered(first, "No"));
    const third = await peer.ask("risky", { code: "(c)" });
    await peer.finish("risky", { code: "(c)" }, answered(third, "Yes"));
    expect(done).to.deep.equal(["(c)"]);
  });

  it("cancels a call whose client disconnects without answering", async () => {
    const records: [name: unknown, outcome: string][] = [];
    const left = McpInProcess.modern(server([], (...record) => records.push(record)));
    await left.ask("risky", { code: "(a)" });
    expect(records).to.deep.equal([]);
    await left.close();
    await setImmediate();
    expect(records).to.deep.equal([["risky", "CANCELLED"]]);
  });

  it("refuses an answer after 60 s, and then asks the next question", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const question = await peer.ask("risky", { code: "(a)" });
      const next = peer.ask("risky", { code: "(b)" });
      await setImmediate();
      mock.timers.tick(60_000);
      await next;
      const late = await peer.finish("risky", { code: "(a)" }, answered(question, "Yes"));
      expect(denial(late)).to.include("within 60 s");
      expect(done).to.deep.equal([]);
    } finally {
      mock.timers.reset();
    }
  });

  it("acts without asking if the client cannot ask, except under --approval strict", async () => {
    for (const capabilities of [{}, { elicitation: { url: {} } }]) {
      const mute = McpInProcess.modern(server(), capabilities);
      expect((await mute.finish("risky", { code: "(a)" })).isError).to.equal(false);
      await mute.close();
      const strict = McpInProcess.modern(server(["--approval", "strict"]), capabilities);
      expect(denial(await strict.finish("risky", { code: "(a)" }))).to.include("this client cannot ask");
      await strict.close();
    }
    expect(done).to.deep.equal(["(a)", "(a)"]);
  });

  it("asks if the client names no kind of question", async () => {
    const old = McpInProcess.modern(server(), { elicitation: {} });
    await old.ask("risky", { code: "(a)" });
    await old.close();
  });
});

/** Returns a question with this state and no content. */
function fakeQuestion(requestState: string) {
  const params = { message: "", requestedSchema: { properties: { answer: { enum: [] } } } };
  return {
    resultType: "input_required" as const,
    requestState,
    inputRequests: { approval: { method: "elicitation/create" as const, params } },
  };
}

/** Returns a different letter. */
function flip(letter: string): string {
  return letter === "A" ? "B" : "A";
}

describe("a question to a client of revision 2025-11-25 that declares elicitation", () => {
  const NO_METHOD = { error: { code: -32601, message: "Method not found" } };
  let peer: McpInProcess;

  const start = async (...args: string[]) => {
    done = [];
    peer = new McpInProcess(server(args), { capabilities: { elicitation: {} } });
    await peer.initialize();
  };
  afterEach(() => peer.close());

  /** The questions so far, as the client's ids for them. */
  const asked = () => peer.notifications.flatMap(({ id, method }) => (method === "elicitation/create" ? [id] : []));
  const question = async (index = 0): Promise<number | undefined> => {
    while (asked().length <= index) await setImmediate();
    return asked()[index];
  };
  const call = (code = "(a)") => peer.request("tools/call", { name: "risky", arguments: { code } }).then(finishedCall);

  it("that has no such method leaves the decision to the client, which is not asked again", async () => {
    await start();
    const first = call();
    peer.send({ id: await question(), ...NO_METHOD });
    expect((await first).isError).to.equal(false);
    expect((await call("(b)")).isError).to.equal(false);
    expect(done).to.deep.equal(["(a)", "(b)"]);
    expect(asked()).to.have.length(1);
  });

  it("that has no such method leaves two calls at once to the client", async () => {
    await start();
    const calls = [call("(a)"), call("(b)")];
    peer.send({ id: await question(), ...NO_METHOD });
    expect((await Promise.all(calls)).map(({ isError }) => isError)).to.deep.equal([false, false]);
    expect(asked()).to.have.length(1);
  });

  it("that has no such method refuses under strict, and says what --approval ask does", async () => {
    await start("--approval", "strict");
    const refused = call();
    peer.send({ id: await question(), ...NO_METHOD });
    expect(denial(await refused)).to.match(/this client cannot ask[\s\S]*--approval ask/);
    expect(done).to.deep.equal([]);
  });

  it("that stays silent refuses within 55 s, withdraws the question, and names --approval off", async () => {
    await start();
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const refused = call();
      const id = await question();
      mock.timers.tick(55_000);
      expect(denial(await refused)).to.match(/no answer came within 55 s\.[\s\S]*--approval off/);
      await peer.notified("notifications/cancelled");
      // A late answer changes nothing.
      peer.send({ id, result: { action: "accept", content: { answer: "Yes" } } });
      await setImmediate();
      expect(done).to.deep.equal([]);
    } finally {
      mock.timers.reset();
    }
  });

  it("that ends its input refuses at once", async () => {
    await start();
    const refused = call();
    await question();
    peer.endInput();
    expect(denial(await refused)).to.include("the client closed its input");
    expect(done).to.deep.equal([]);
  });

  const answers: readonly (readonly [what: string, answer: object, expected: RegExp | "done"])[] = [
    ["a yes", { result: { action: "accept", content: { answer: "Yes" } } }, "done"],
    [
      "a word that is no choice",
      { result: { action: "accept", content: { answer: "yes" } } },
      /not one of the choices/,
    ],
    ["a cancelled dialog", { result: { action: "cancel" } }, /the user said no/],
    ["null as the content", { result: { action: "accept", content: null } }, /names no choice[\s\S]*--approval off/],
    ["no action", { result: { content: { answer: "Yes" } } }, /was malformed[\s\S]*--approval off/],
    ["an unknown action", { result: { action: "ok", content: { answer: "Yes" } } }, /was malformed/],
    ["a list as the result", { result: ["Yes"] }, /was malformed/],
    ["true as the answer", { result: { action: "accept", content: { answer: true } } }, /names no choice/],
    ["another error", { error: { code: -32603, message: "no window" } }, /no window[\s\S]*--approval off/],
    ["an error without a code", { error: { message: "not supported" } }, /not supported/],
  ];
  for (const [what, answer, expected] of answers) {
    it(`takes ${what} ${expected === "done" ? "as a yes" : "as a no"}`, async () => {
      await start();
      const result = call();
      peer.send({ id: await question(), ...answer });
      if (expected === "done") expect((await result).isError).to.equal(false);
      else expect(denial(await result)).to.match(expected);
      expect(done).to.have.length(expected === "done" ? 1 : 0);
    });
  }
});
