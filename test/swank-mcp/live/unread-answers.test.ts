import { execFile } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { gone, peakMemory } from "../../support/mcp-processes.js";
import { PROGRAM, ServerProcess } from "../../support/server-process.js";
import { sideBySide } from "../../support/side-by-side.js";

const OPENING = [
  {
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } },
  },
  { method: "notifications/initialized" },
];

/** A client that writes all requests first and reads late or never. */
class LateReader extends ServerProcess {
  /** Resolves when the program has exited, even if its output is not read. */
  readonly exitCode: Promise<number | null> = once(this.process, "exit").then(([code]) => code);

  send(...messages: object[]): void {
    this.process.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
  }

  /** Reads the complete output. */
  async read(): Promise<string> {
    let text = "";
    for await (const chunk of this.process.stdout.setEncoding("utf8")) text += chunk;
    return text;
  }
}

async function countLines(stream: AsyncIterable<Buffer>): Promise<number> {
  let count = 0;
  for await (const chunk of stream) for (const byte of chunk) if (byte === 0x0a) count += 1;
  return count;
}

function lists(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, method: "tools/list" }));
}

function evaluation(id: number, code: string): object {
  return { id, method: "tools/call", params: { name: "evaluate-lisp", arguments: { code } } };
}

describe("swank-mcp with a client that reads late or never", () => {
  const started: LateReader[] = [];

  function start(...args: string[]): LateReader {
    const reader = new LateReader(args);
    started.push(reader);
    return reader;
  }

  after(async () => {
    for (const { process, exitCode } of started) {
      process.kill("SIGKILL");
      await exitCode;
    }
  });

  sideBySide({
    "delivers every answer after its input ended, and finishes the running call": async () => {
      const client = start();
      client.send(...OPENING, ...lists(60), evaluation(61, "(progn (sleep 2.5) :slept)"));
      client.process.stdin.end();
      await once(client.process.stdout, "readable");
      await setTimeout(3000);
      const text = await client.read();
      const ids = text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).id);
      expect(ids).to.deep.equal(Array.from({ length: 62 }, (_, id) => id));
      expect(text).to.match(/=> :SLEPT.*\}\n$/);
      expect(await client.exitCode).to.equal(0);
    },

    "delivers every answer after a signal": async () => {
      const client = start();
      client.send(...OPENING, ...lists(40));
      await once(client.process.stdout, "readable");
      await setTimeout(1000);
      client.process.kill("SIGTERM");
      await setTimeout(500);
      const text = await client.read();
      expect(text.trimEnd().split("\n")).to.have.length(41);
      expect(text.endsWith("}\n")).to.equal(true);
      expect(await client.exitCode).to.equal(143);
    },

    "exits if its output is never read, reports the lost answers, and leaves no image": async () => {
      const client = start();
      client.send(...OPENING, evaluation(1, '(progn (format *error-output* "x") #.(sb-unix:unix-getpid))'));
      const [, pid] = /=> (\d+)/.exec(await firstAnswers(client, 2)) ?? [];
      client.send(...lists(40));
      client.process.stdin.end();
      expect(await client.exitCode).to.equal(1);
      expect(client.errorText).to.match(/^swank-mcp: \d{6} bytes of output were lost because nobody read them\.\n$/m);
      await gone(Number(pid));
    },

    "stops reading during a flood of requests, limits its memory, and answers them all": async () => {
      const client = start();
      client.send(...OPENING, ...lists(20_000));
      await setTimeout(3000);
      expect(client.process.stdin.writableLength).to.be.above(0);
      // Without the limit there would be 580 MB of answers.
      expect((await peakMemory(client.process.pid ?? 0)) ?? 0).to.be.below(250);
      const reading = countLines(client.process.stdout);
      client.process.stdin.end();
      expect(await reading).to.equal(20_001);
      expect(await client.exitCode).to.equal(0);
    },

    "accepts a line of 17 MB, refuses one of 34 MB by its id, and continues": async () => {
      const client = start();
      client.send(...OPENING, evaluation(1, "x".repeat(17_000_000)), evaluation(2, "x".repeat(34_000_000)));
      client.send({ id: 3, method: "tools/call", params: { name: "y".repeat(1_000_000) } });
      client.process.stdin.end();
      const answers = (await client.read()).trimEnd().split("\n");
      const byId = new Map(answers.map((line) => [JSON.parse(line).id, line]));
      expect(byId.get(1)).to.match(/FRAME_TOO_LARGE/);
      expect(byId.get(2)).to.match(/"code":-32600,"message":"Invalid request: the message has 34000\d{3} bytes/);
      expect(byId.get(3)).to.match(/There is no tool \\"y{50,70}\.\.\./);
      for (const line of answers) expect(line.length).to.be.below(20_000);
      expect(await client.exitCode).to.equal(0);
    },

    "prints a console's whole output to a late reader": async () => {
      const console = start("console");
      console.process.stdin.end("(dotimes (i 12) (print (make-string 18000 :initial-element #\\a)))\n".repeat(4));
      await once(console.process.stdout, "readable");
      await setTimeout(3000);
      const text = await console.read();
      expect(text.match(/a{18000}/g)).to.have.length(48);
      expect(text).to.match(/"\s+$/);
      expect(await console.exitCode).to.equal(0);
    },

    "prints its whole help to a late reader, and exits quietly if the reader disconnects": async () => {
      const { stdout } = await promisify(execFile)("sh", ["-c", '"$0" --help all | (sleep 1; cat)', PROGRAM]);
      expect(stdout).to.match(/^Usage: [\s\S]* override environment variables\.\n$/);
      const closed = start("--help");
      closed.process.stdout.destroy();
      expect(await closed.exitCode).to.equal(0);
      expect(closed.errorText).to.equal("");
    },
  });
});

/** Reads this many lines and then stops reading. */
async function firstAnswers({ process }: LateReader, count: number): Promise<string> {
  let text = "";
  while (text.split("\n").length <= count) {
    await once(process.stdout, "readable");
    text += process.stdout.read() ?? "";
  }
  return text;
}
