import type { ElicitResult } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { HttpClient } from "../../support/http-client.js";
import { liveHttp } from "../../support/live-server.js";
import { connectFirst, connectSecond, textFrom } from "../../support/official-clients.js";

type Client = Parameters<typeof textFrom>[0] & { close(): Promise<void> };

/** A user who notes every question, and answers all of them alike. */
class User {
  readonly questions: string[] = [];
  choice = "Yes";

  readonly answer = async (message: string): Promise<ElicitResult> => {
    this.questions.push(message);
    return { action: "accept", content: { answer: this.choice } };
  };
}

/** The thread of the only stop of this message. */
async function threadOf(client: Client, message: string): Promise<string> {
  const listed: unknown = JSON.parse(await textFrom(client, "lisp-status", {})).stopped;
  const stops: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const found = stops.find((stop) => JSON.stringify(stop).includes(`"message":"${message}"`));
  return typeof found === "object" && found !== null && "thread" in found ? String(found.thread) : "";
}

describe("the thread of another agent over HTTP", () => {
  const http = liveHttp();
  let asking: Client;
  let askingUser: User;
  let opened: Client[];
  let name: string;
  let count = 0;

  beforeEach(async () => {
    count += 1;
    name = `asking-${count}`;
    askingUser = new User();
    asking = await connectSecond({ pin: "2026-07-28" }, askingUser.answer, http.client(name));
    opened = [asking];
  });
  afterEach(() => Promise.all(opened.map((client) => client.close())));

  const abort = (thread: string) => textFrom(asking, "debugger_invoke_restart", { restart: "ABORT", thread });

  for (const era of ["first", "second"] as const) {
    it(`is its own user's to allow, in a client of 2025 (the SDK's ${era} line)`, async () => {
      const user = new User();
      const at = http.client(`owner-${count}`);
      const owner = await (era === "first" ? connectFirst(user.answer, at) : connectSecond("legacy", user.answer, at));
      opened.push(owner);
      await textFrom(owner, "evaluate-lisp", { code: `(error "of ${era}")` });
      const thread = await threadOf(asking, `of ${era}`);
      user.choice = "No";
      expect(await abort(thread)).to.include("the user said no");
      expect(user.questions).to.have.length(1);
      expect(user.questions[0])
        .to.match(new RegExp(`^AI agent "${name}" wants to invoke restart \\d+`))
        .and.include(`in a thread that is stopped in your agent "owner-${count}"`);
      expect(await threadOf(owner, `of ${era}`)).to.equal(thread);
      user.choice = "Yes";
      expect(await abort(thread)).not.to.include("Not allowed");
      expect(await threadOf(owner, `of ${era}`)).to.equal("");
      expect(askingUser.questions).to.deep.equal([]);
    });
  }

  it("is asked about while it runs", async () => {
    const user = new User();
    const owner = await connectFirst(user.answer, http.client(`runner-${count}`));
    opened.push(owner);
    await textFrom(owner, "evaluate-lisp", { code: "(defvar *runner* nil)" });
    const running = textFrom(owner, "evaluate-lisp", {
      code: "(progn (setf *runner* (sb-thread:thread-name sb-thread:*current-thread*)) (loop (sleep 0.05)))",
    });
    let id = "";
    while (id === "") {
      const { structuredContent } = await new HttpClient(http.client()).call("lisp-status");
      id = /"agent":"runner-\d+","thread":(\d+)/.exec(JSON.stringify(structuredContent))?.[1] ?? "";
    }
    await textFrom(asking, "interrupt-thread", { thread: id, mode: "stop" });
    expect(user.questions).to.have.length(1);
    expect(user.questions[0]).to.include(
      `AI agent "${name}" wants to stop thread ${id}, which runs code of your agent`,
    );
    expect(askingUser.questions).to.deep.equal([]);
    await textFrom(owner, "debugger_invoke_restart", { restart: "ABORT", thread: id });
    await running;
  });

  const UNABLE = {
    "of 2026, which is asked only within its own calls": () => connectModern(),
    "of 2025 without elicitation": () => HttpClient.initialized(http.client(`mute-${count}`)),
  } as const;

  async function connectModern(): Promise<HttpClient> {
    return new HttpClient(http.client(`modern-${count}`));
  }

  for (const [what, connect] of Object.entries(UNABLE)) {
    it(`is left alone if its client is one ${what}`, async () => {
      const owner = await connect();
      const message = `left ${count}`;
      await owner.evaluate(`(error "${message}")`);
      const thread = await threadOf(asking, message);
      expect(await abort(thread)).to.include("whose client cannot be asked now");
      expect(await threadOf(asking, message)).to.equal(thread);
      expect(askingUser.questions).to.deep.equal([]);
    });
  }

  it("belongs to the same user if both agents have one token", async () => {
    const { url, token } = http.client(`both-${count}`);
    const at = (session: string) => ({ url: new URL(`?session=${session}`, url), token });
    const user = new User();
    const right = await connectSecond({ pin: "2026-07-28" }, user.answer, at("right"));
    opened.push(right);
    await new HttpClient(at("left")).evaluate('(error "left")');
    const thread = await threadOf(right, "left");
    await textFrom(right, "debugger_invoke_restart", { restart: "ABORT", thread });
    expect(user.questions).to.have.length(1);
    expect(await threadOf(right, "left")).to.equal("");
  });
});
