import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { HttpClient, messagesOf } from "../../support/http-client.js";
import type { HttpServer } from "../../support/http-server.js";
import { ledgerLines } from "../../support/ledger.js";
import { liveFolder, liveHttp } from "../../support/live-server.js";
import { refusalType } from "../../support/mcp-results.js";

/** Makes a client of one era, with a token of its own. */
type Begin = (http: HttpServer, name?: string) => Promise<HttpClient>;

const ERAS: readonly (readonly [string, Begin])[] = [
  ["2025", (http, name) => HttpClient.initialized(http.client(name))],
  ["2026", async (http, name) => new HttpClient(http.client(name))],
];

async function status(client: HttpClient): Promise<Record<string, unknown>> {
  return (await client.call("lisp-status")).structuredContent ?? {};
}

describe("agents of one HTTP server", () => {
  const http = liveHttp({ args: ["--max-stops", "3"] });

  for (const [era, begin] of ERAS) {
    describe(`with clients of ${era}`, () => {
      let one: HttpClient;
      let other: HttpClient;

      beforeEach(async () => {
        one = await begin(http);
        other = await begin(http);
      });

      it("share the image, and nothing else", async () => {
        await one.evaluate("(defpackage :apart) (in-package :apart) (cl:defvar cl-user::*both* 1)");
        await one.evaluate("(cl:list 1 2)");
        expect(await other.evaluate("*both*")).to.match(/^=> 1/);
        expect(await other.evaluate("(list (package-name *package*) *)")).to.match(/^=> \("COMMON-LISP-USER" 1\)/);
        expect(await one.evaluate("(cl:list (cl:package-name cl:*package*) cl:*)")).to.match(/^=> \("APART" \(1 2\)\)/);
        expect((await status(one))["pid"]).to.equal((await status(other))["pid"]);
      });

      it("each have their own last error and stops", async () => {
        await one.evaluate('(error "one")');
        expect((await other.call("describe-last-error")).content)
          .to.have.nested.property("[0].text")
          .that.includes("No error");
        const refused = await other.call("debugger_invoke_restart", { restart: "ABORT" });
        expect(refusalType(refused)).to.equal("NOT_DEBUGGING");
        await other.evaluate('(error "other")');
        for (const [client, message] of [
          [one, "one"],
          [other, "other"],
        ] as const) {
          const { structuredContent } = await client.call("debugger_restarts");
          expect(structuredContent).to.have.property("restarts");
          expect((await client.call("describe-last-error")).content)
            .to.have.nested.property("[0].text")
            .that.includes(message);
        }
        await one.call("debugger_invoke_restart", { restart: "ABORT" });
        expect(await stops(other)).to.have.length(1);
      });

      it("each have their own breakpoints", async () => {
        await one.evaluate("(defun watched (x) (* x 2))");
        await one.call("breakpoint_set", { function: "watched" });
        expect(await other.evaluate("(watched 2)")).to.match(/^=> 4/);
        expect((await other.call("breakpoint_list")).structuredContent).to.deep.include({ breakpoints: [] });
        expect(await one.evaluate("(watched 2)")).to.match(/^\[BREAKPOINT\]/);
        await one.call("debugger_continue");
        await one.call("breakpoint_remove", { id: 1 });
      });

      it("see each other by name in lisp-status and list-threads", async () => {
        const named = await begin(http, `alice-${era}`);
        await named.evaluate('(sb-thread:make-thread (lambda () (sleep 60)) :name "of-alice") (error "alice")');
        const owner = new RegExp(`agent "alice-${era}" \\(Swank connection \\d+\\)`);
        expect(JSON.stringify((await status(other))["stopped"]).replaceAll('\\"', '"')).to.match(owner);
        expect((await other.call("list-threads", { name: "of-alice" })).content)
          .to.have.nested.property("[0].text")
          .that.matches(owner);
        const reset = await other.call("reset-session");
        expect(reset.isError).to.equal(false);
        expect(await stops(named)).to.have.length(1);
        await named.call("reset-session");
      });
    });
  }

  it("tells clients with one token apart by the session in the URL", async () => {
    const { url, token } = http.client("shared");
    const at = (session: string) => ({ url: new URL(`?session=${session}`, url), token });
    const [left, right, again] = [at("left"), at("right"), at("left")].map((address) => new HttpClient(address));
    await left?.evaluate('(error "left")');
    expect(await stops(right)).to.have.length(0);
    expect(await stops(again)).to.have.length(1);
    expect(await (await new HttpClient(at("a%20b")).begin("lisp-status")).text()).to.include("The session has 1 to 64");
  });

  it("gives no session to another identity", async () => {
    const one = await HttpClient.initialized(http.client());
    const thief = new HttpClient(http.client());
    thief.session = one.session;
    for (const response of [await thief.begin("lisp-status"), await thief.delete()]) {
      expect(response.status).to.equal(404);
      expect(await response.text()).to.include("Session not found");
    }
    expect(await one.evaluate("1")).to.match(/^=> 1/);
  });

  it("accepts an answer to a question from the client that was asked only", async () => {
    const capabilities = { elicitation: { form: {} } };
    const asked = new HttpClient(http.client());
    const other = new HttpClient(http.client());
    const args = { frame: 0, code: "(+ 1 2)" };
    for (const client of [asked, other]) await client.evaluate('(error "stop")');
    const [question] = await messagesOf(await asked.begin("debugger_eval_in_frame", args, { capabilities }));
    const requestState = question?.result?.["requestState"];
    const yes = { inputResponses: { approval: { action: "accept", content: { answer: "Yes" } } }, requestState };
    const stolen = await other.call("debugger_eval_in_frame", args, { capabilities, more: yes });
    expect(refusalType(stolen)).to.equal("APPROVAL_DENIED");
    expect((await asked.call("debugger_eval_in_frame", args, { capabilities, more: yes })).content)
      .to.have.nested.property("[0].text")
      .that.matches(/^=> 3/);
    const again = await asked.call("debugger_eval_in_frame", args, { capabilities, more: yes });
    expect(refusalType(again)).to.equal("APPROVAL_DENIED");
  });

  it("answers with JSON a client that takes nothing else", async () => {
    const accept = "application/json";
    const modern = await new HttpClient(http.client()).begin("evaluate-lisp", { code: "1" }, { accept });
    const session = await HttpClient.initialized(http.client(), { accept });
    const old = await session.begin("evaluate-lisp", { code: "1" }, { accept, meta: { progressToken: 1 } });
    for (const response of [modern, old]) {
      expect(response.headers.get("content-type")).to.match(/^application\/json/);
      expect(await messagesOf(response))
        .to.have.nested.property("[0].result.content[0].text")
        .that.matches(/^=> 1/);
    }
  });
});

describe("an HTTP server whose image ends", () => {
  const http = liveHttp();

  it("launches another for all of its agents", async () => {
    const one = await HttpClient.initialized(http.client());
    const other = new HttpClient(http.client());
    const pid = (await status(one))["pid"];
    await other.evaluate("(defvar *gone* 1)");
    const running = one.call("evaluate-lisp", { code: "(sleep 60)" });
    await setTimeout(300);
    process.kill(Number(pid), "SIGKILL");
    expect(refusalOrText(await running)).to.match(/IMAGE|lost|ended/i);
    const [first, second] = await Promise.all([status(one), status(other)]);
    expect(first["pid"]).to.equal(second["pid"]).and.not.equal(pid);
    expect(JSON.stringify([first, second])).to.include("new image");
    expect(await other.evaluate("(boundp '*gone*)")).to.match(/^=> NIL/);
  });
});

describe("the ledger of an HTTP server", () => {
  const folder = liveFolder("ledger");
  const path = () => join(folder, "ledger.jsonl");
  const http = liveHttp({ args: () => ["--ledger", path()] });

  it("names the agent of each call, whose history is its own", async () => {
    const { url, token } = http.client("shared");
    const right = new HttpClient({ url: new URL("?session=right", url), token });
    const agents = {
      old: await HttpClient.initialized(http.client("old")),
      modern: new HttpClient(http.client("modern")),
      "shared/right": right,
    };
    const all = Object.entries(agents);
    for (const round of ["first", "second"])
      await Promise.all(all.map(([name, client]) => client.evaluate(`"${round} of ${name}"`)));
    for (const [name, client] of all)
      expect(await client.evaluate("(list * **)")).to.include(`("second of ${name}" "first of ${name}")`);
    const lines = await ledgerLines(path());
    for (const [name] of all) {
      const ofAgent = lines.filter(({ agent }) => agent === name);
      expect(ofAgent.map(({ event }) => event)).to.deep.equal(["call", "end", "call", "end", "call", "end"]);
      const texts = JSON.stringify(ofAgent);
      for (const [other] of all) expect(texts.includes(`first of ${other}`)).to.equal(other === name);
    }
    expect(lines).to.have.length(6 * all.length);
  });
});

function refusalOrText({ content, structuredContent }: Awaited<ReturnType<HttpClient["call"]>>): string {
  return JSON.stringify([content, structuredContent]);
}

async function stops(client: HttpClient | undefined): Promise<readonly unknown[]> {
  const { stopped } = client === undefined ? {} : await status(client);
  const own = Array.isArray(stopped) ? stopped.filter((stop: object) => !("owner" in stop)) : [];
  return own;
}
