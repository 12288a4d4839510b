import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { keyword } from "sexp-parser";
import type { SwankClient, types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { forUsualServer } from "../../support/usual-server.js";
import { freshImage, type LiveImage, liveImage } from "./live-image.js";
import { Neighbour } from "./neighbour.js";
import { values } from "./outcomes.js";

type Told = types.AgentEvent;

/** A client that follows the agents of an image, and what it was told. */
class Watcher {
  readonly client: SwankClient;
  readonly followed: types.FollowedAgents;
  readonly told: readonly Told[];

  private constructor(client: SwankClient, followed: types.FollowedAgents, told: readonly Told[]) {
    this.client = client;
    this.followed = followed;
    this.told = told;
  }

  static async of(image: LiveImage, options: types.FollowAgentsOptions = {}): Promise<Watcher> {
    const client = await image.connect({ runtime: false });
    const told: Told[] = [];
    return new Watcher(client, await client.activity.follow(options, (event) => told.push(event)), told);
  }

  /** Waits for an event that fits. */
  async until<Type extends Told["type"]>(
    type: Type,
    fits: (event: Extract<Told, { type: Type }>) => boolean = () => true,
  ): Promise<Extract<Told, { type: Type }>> {
    const isWanted = (event: Told): event is Extract<Told, { type: Type }> => event.type === type;
    for (let seen = 0; ; await pause(5)) {
      for (; seen < this.told.length; seen++) {
        const event = this.told[seen];
        if (event !== undefined && isWanted(event) && fits(event)) return event;
      }
    }
  }
}

const agent = (image: LiveImage, agentName = "claude") => image.connect({ agentName });

/** The number of open connections to which the image sends events. */
const LISTENERS = `(cl:count-if (cl:lambda (listener) (cl:member (cl:first listener) swank::*connections*))
                               (cl:car (cl:get :swank-mcp :listeners)))`;

describe("AgentActivity.follow", () => {
  const image = liveImage();

  it("tells an agent's call from its begin to its end, also if no agent had come before", async () => {
    const watcher = await Watcher.of(image);
    expect(watcher.followed.ledger).to.deep.equal({ agents: [], calls: [], earlier: 0, questions: [] });
    const client = await agent(image);
    await values(client, "(list 0)");
    // Its first call has brought the runtime.
    await watcher.until("ledger");
    const before = Date.now();
    await values(client, '(progn (princ "printed") (+ 1 2))');
    const { call } = await watcher.until("begin", (event) => event.call.code.startsWith("(progn"));
    const end = await watcher.until("end", ({ number }) => number === call.number);
    expect(call).to.include({ agent: "claude", operation: "evaluate", revision: 0, output: "", result: "" });
    expect(call)
      .to.include({ code: '(progn (princ "printed") (+ 1 2))' })
      .and.not.to.have.any.keys("ended", "stop", "status");
    expect(call.begun).to.be.within(before - 1000, end.ended);
    expect(await watcher.until("output")).to.include({ number: call.number, text: "printed" });
    expect(end).to.include({ number: call.number, status: "returned", result: "=> 3" });
    expect(end.ended).to.be.within(before - 1000, Date.now() + 1000);
    expect(await watcher.until("agents", ({ agents }) => agents.length > 0)).to.deep.include({ agents: ["claude"] });
    await client.close();
    await watcher.until("agents", ({ agents }) => agents.length === 0);
  });

  it("gives who comes later the ledger, and then what happens", async () => {
    const client = await agent(image);
    await values(client, "(list 1)");
    const evaluation = client.evaluate('(error "bad")');
    const outcome = await evaluation.next();
    const watcher = await Watcher.of(image);
    const { agents, calls } = watcher.followed.ledger;
    const [returned, stopped] = calls.slice(-2);
    expect(agents).to.deep.equal(["claude"]);
    expect(returned).to.include({ code: "(list 1)", status: "returned", result: "=> (1)" });
    expect(returned?.ended).to.be.at.least(returned?.begun ?? Number.POSITIVE_INFINITY);
    expect(outcome.status).to.equal("stopped");
    const [stop] = client.stops;
    expect(stopped?.stop).to.deep.equal({ thread: stop?.thread, level: 1, message: "bad" });
    expect(stopped).not.to.have.property("status");
    await stop?.abort();
    const end = await watcher.until("end", ({ number }) => number === stopped?.number);
    expect(end).to.include({ status: "aborted" });
  });

  it("tells stops and what resumes them", async () => {
    const watcher = await Watcher.of(image);
    const client = await agent(image);
    const evaluation = client.evaluate('(progn (cerror "Go on" "bad") :done)');
    await evaluation.next();
    const { number, stop } = await watcher.until("stop");
    expect(stop).to.include({ level: 1, message: "bad" });
    const [stopped] = client.stops;
    await stopped?.invokeRestart(stopped.restarts.findIndex(({ name }) => name === "CONTINUE"));
    await evaluation.next();
    expect(await watcher.until("resume")).to.include({ number });
    const end = await watcher.until("end", (event) => event.number === number);
    expect(end).to.include({ status: "returned", result: "=> :DONE" });
    const revisions = watcher.told.flatMap((event) =>
      "revision" in event && event.number === number ? [event.revision] : [],
    );
    expect(revisions).to.deep.equal([...revisions].sort((one, other) => one - other));
  });

  it("asks for the ledger by itself after a gap, and loses and repeats nothing", async () => {
    const watcher = await Watcher.of(image);
    const client = await agent(image);
    await values(client, "(list :before)");
    await watcher.until("end");
    const running = client.evaluate("(loop repeat 200 do (print :tick) (finish-output) (sleep 0.005))");
    await watcher.until("output");
    const gap = `(cl:loop for (connection channel) in (cl:car (cl:get :swank-mcp :listeners))
      do (swank::send (swank::mconn.control-thread connection) (cl:list :channel-send channel '(:gap))))`;
    for (let round = 0; round < 3; round++) await image.ask(gap);
    const { ledger } = await watcher.until("ledger");
    expect(ledger.calls.at(-2)).to.include({ code: "(list :before)", status: "returned" });
    await running.result();
    const { number } = await watcher.until("end", ({ revision }) => revision > 3);
    let output = "";
    for (const event of watcher.told) {
      if (event.type === "ledger") output = event.ledger.calls.find((call) => call.number === number)?.output ?? "";
      if (event.type === "output" && event.number === number) output += event.text;
    }
    expect(output.match(/TICK/g)).to.have.length(200);
  });

  it("takes the connection out of the list at its end, and ends with the connection", async () => {
    const watcher = await Watcher.of(image);
    expect(await image.ask(LISTENERS)).to.equal("1");
    const second = watcher.client.activity.follow({}, () => undefined);
    const refused = await rejection(second, "INVALID_ARGUMENT");
    expect(refused.message).to.include("follows the image's agents already");
    await watcher.followed.end();
    await watcher.followed.end();
    expect(await image.ask(LISTENERS)).to.equal("0");
    const client = await agent(image);
    await values(client, "(list 1)");
    expect(watcher.told).to.deep.equal([]);
    const told: Told[] = [];
    const again = await watcher.client.activity.follow({}, (event) => told.push(event));
    await watcher.client.close();
    await values(client, "(list 2)");
    await again.end();
    expect(told).to.deep.equal([]);
  });
});

describe("AgentActivity", () => {
  const image = liveImage();

  it("tell asks one agent, or all of them, to look at something", async () => {
    const [one, two] = [await agent(image, "one"), await agent(image, "two")];
    const heard: unknown[] = [];
    for (const client of [one, two]) {
      await values(client, "(list 1)");
      client.on("userAsks", (request) => heard.push(request));
    }
    const person = await image.connect({ runtime: false });
    expect(await person.activity.tell("two", "look here", "7/1")).to.deep.equal(["two"]);
    expect([...(await person.activity.tell(undefined, "look"))].sort()).to.deep.equal(["one", "two"]);
    expect(await person.activity.tell("three", "look")).to.deep.equal([]);
    while (heard.length < 3) await pause(5);
    expect(heard[0]).to.include({ text: "look here", place: "7/1" });
  });

  it("pause tells the agent's client, and says whether there is such an agent", async () => {
    const client = await agent(image);
    await values(client, "(list 1)");
    const heard: boolean[] = [];
    client.on("paused", ({ isPaused }) => heard.push(isPaused));
    const person = await image.connect({ runtime: false });
    expect(await person.activity.pause("claude", true)).to.equal(true);
    expect(await person.activity.pause("claude", false)).to.equal(true);
    expect(await person.activity.pause("nobody", true)).to.equal(false);
    while (heard.length < 2) await pause(5);
    expect(heard).to.deep.equal([true, false]);
  });
});

describe("AgentActivity.kick of all agents", () => {
  const image = freshImage();

  it("closes their connections and the port, and not the connections of who follows them", async () => {
    const [one, two] = [await agent(image, "one"), await agent(image, "two")];
    for (const client of [one, two]) await values(client, "(list 1)");
    const [watcher, other] = [await Watcher.of(image), await Watcher.of(image)];
    const { port } = image.swank;
    expect(await watcher.client.activity.kick()).to.deep.equal({ kicked: 2, stayed: 0, ports: [port] });
    expect((await Promise.all([one.closed, two.closed])).map(({ details }) => details.kicked)).to.deep.equal([
      true,
      true,
    ]);
    await other.until("agents", ({ agents }) => agents.length === 0);
    expect([watcher.client.isOpen, other.client.isOpen]).to.deep.equal([true, true]);
  });
});

const QUESTION: types.UserQuestion = {
  action: "evaluate code",
  particulars: [["Code", "(+ 1 2)"]],
  circumstances: ["Thread 1"],
  seconds: 60,
};

describe("SwankClient.askUser", () => {
  const image = liveImage();

  it("is answered where a program follows with questions, and the other listeners learn who has answered", async () => {
    const client = await agent(image);
    expect(await client.canAskUser()).to.equal(false);
    expect(await client.askUser(QUESTION)).to.deep.equal({ answer: "nobody" });
    const silent = await Watcher.of(image);
    expect(await client.canAskUser()).to.equal(false);
    const [one, two] = [await Watcher.of(image, { questions: true }), await Watcher.of(image, { questions: true })];
    const reply = client.askUser(QUESTION);
    const { question } = await one.until("ask");
    expect(question).to.deep.include({ ...QUESTION, agent: "claude", forStop: false, inFull: false });
    expect((await two.until("ask")).question.number).to.equal(question.number);
    const { activity } = one.client;
    expect(await activity.answer(question.number, "pass")).to.equal(false);
    expect(await activity.answer(question.number, "yes")).to.equal(true);
    expect(await two.client.activity.answer(question.number, "no")).to.equal(false);
    expect(await reply).to.deep.equal({ answer: "yes", place: "page" });
    const facts = { type: "withdraw", number: question.number, reason: "answered", answer: "yes", place: "page" };
    expect(await two.until("withdraw")).to.deep.equal(facts);
    expect(await silent.until("end")).to.include({ status: "returned", result: "Allowed on the page: Yes" });
    expect(silent.told.filter(({ type }) => type === "ask" || type === "withdraw")).to.deep.equal([]);
  });

  it("tells an Emacs of an older version who has answered as that understands it", async () => {
    const client = await agent(image);
    await values(client, "(list 1)");
    const old = await Neighbour.of(image);
    await old.evaluate(
      forUsualServer(`(push (list swank::*emacs-connection* 7 1 '(:ask :withdraw)) (car (get :swank-mcp :listeners)))`),
    );
    const watcher = await Watcher.of(image, { questions: true });
    const sent = async (method: string) => {
      for (;;) {
        const told = old.told.find((message) => message.type === "channel-send" && message.method === method);
        if (told?.type === "channel-send") return told.args;
        await pause(5);
      }
    };
    const first = client.askUser(QUESTION);
    const { question } = await watcher.until("ask");
    await sent("ask");
    await watcher.client.activity.answer(question.number, "stop");
    expect(await first).to.deep.equal({ answer: "no", place: "page" });
    expect(await sent("withdraw")).to.deep.equal([question.number, keyword("answered"), keyword("no")]);
    const second = client.askUser(QUESTION);
    const { number } = (await watcher.until("ask", (event) => event.question.number > question.number)).question;
    await old.evaluate(`(funcall (third (first (car (get :swank-mcp :runtimes)))) :answer ${number} :yes)`);
    expect(await second).to.deep.equal({ answer: "yes", place: "emacs" });
    expect(await watcher.until("withdraw", (event) => event.number === number)).to.include({ place: "emacs" });
  });

  it("waits for who comes later, who finds the question in the ledger", async () => {
    const client = await agent(image);
    const reply = client.askUser({ ...QUESTION, key: "later" });
    const watcher = await Watcher.of(image);
    while (!watcher.told.some(({ type }) => type === "begin") && watcher.followed.ledger.calls.length === 0)
      await pause(5);
    const late = await Watcher.of(image, { questions: true });
    const [question] = late.followed.ledger.questions;
    expect(question).to.deep.include({ ...QUESTION, agent: "claude" });
    expect(await late.client.activity.answer(question?.number ?? 0, "no")).to.equal(true);
    expect(await reply).to.deep.equal({ answer: "no", place: "page" });
  });

  it("that has a key ends with its time, and with its request", async () => {
    const client = await agent(image);
    expect(await client.askUser({ ...QUESTION, seconds: 1, key: "soon over" })).to.deep.equal({ answer: "unanswered" });
    const watcher = await Watcher.of(image, { questions: true });
    const abort = new AbortController();
    const reply = client.askUser({ ...QUESTION, key: "withdrawn" }, { signal: abort.signal });
    const { question } = await watcher.until("ask");
    abort.abort();
    await rejection(reply, "CANCELLED");
    const withdrawn = await watcher.until("withdraw");
    expect(withdrawn).to.deep.equal({ type: "withdraw", number: question.number, reason: "gone" });
  });

  it("is settled by the answer in the agent's client, each question by its own, unless somebody else was faster", async () => {
    const client = await agent(image);
    const watcher = await Watcher.of(image, { questions: true });
    const [one, two] = [
      { ...QUESTION, key: "one" },
      { ...QUESTION, key: "two" },
    ].map((asked) => client.askUser(asked));
    const first = (await watcher.until("ask")).question.number;
    const second = (await watcher.until("ask", (event) => event.question.number !== first)).question.number;
    expect(await client.activity.settle("one", "yes")).to.deep.equal({ answer: "yes", place: "client" });
    expect(await one).to.deep.equal({ answer: "yes", place: "client" });
    const open = [first, second].find(
      (number) => !watcher.told.some((told) => told.type === "withdraw" && told.number === number),
    );
    expect(await watcher.client.activity.answer(open ?? 0, "no")).to.equal(true);
    expect(await client.activity.settle("two", "yes")).to.deep.equal({ answer: "no", place: "page" });
    expect(await two).to.deep.equal({ answer: "no", place: "page" });
    expect(await client.activity.settle("three", "yes")).to.deep.equal({ answer: "nobody" });
  });

  it("is settled also before the image has it", async () => {
    const client = await agent(image);
    const settling = client.activity.settle("early", "no");
    expect(await client.askUser({ ...QUESTION, key: "early" })).to.deep.equal({ answer: "no", place: "client" });
    expect(await settling).to.deep.equal({ answer: "no", place: "client" });
  });
});

/** A version of the runtime that knows few requests. */
const OLD_RUNTIME = `(cl:progn
  (cl:setf (cl:get :swank-mcp :runtimes)
           (cl:list (cl:list (cl:list 1 "old" (cl:lambda (operation cl:&rest arguments)
                                                (cl:declare (cl:ignore arguments))
                                                (cl:case operation (:ask-agents (cl:list "old")) (cl:t :unknown)))))))
  cl:nil)`;

describe("AgentActivity beside an older version of the runtime", () => {
  const image = liveImage();

  it("reports what that version does not know as not done", async () => {
    await image.ask(OLD_RUNTIME);
    const { activity } = await image.connect({ runtime: false });
    expect(await activity.pause("old", true)).to.equal(false);
    expect(await activity.kick("old")).to.equal(undefined);
    expect(await activity.answer(1, "yes")).to.equal(false);
    expect(await activity.kick()).to.deep.equal({ kicked: 0, stayed: 0, ports: [] });
    expect(await activity.tell(undefined, "look")).to.deep.equal(["old"]);
    expect((await activity.follow({}, () => undefined)).ledger.calls).to.deep.equal([]);
  });
});
