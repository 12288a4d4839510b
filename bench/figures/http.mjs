import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { inRepository } from "../../scripts/setup/paths.mjs";
import { ratio } from "../measure.mjs";
import { ServerProcess } from "../server-process.mjs";

const CLIENTS = [1, 8, 32];
/** Calls of all clients in one run. */
const CALLS = 320;
const ROUNDS = 21;
const CODE = "(+ 1 2)";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * Measures calls of several clients over HTTP, against as many calls at once over stdio, and against an SDK echo tool over HTTP.
 *
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
export async function http() {
  const server = await HttpProcess.start(inRepository("node_modules/.bin/swank-mcp"), "evaluate-lisp", [
    ...["http", "--port", "0", "--no-token"],
  ]);
  const echo = await HttpProcess.start(inRepository("bench/echo-http-server.mjs"), "echo", []);
  const stdio = new ServerProcess();
  try {
    await stdio.initialize();
    const figures = [];
    for (const clients of CLIENTS) {
      const subject = { what: `${CALLS} calls of evaluate-lisp over HTTP`, run: () => server.calls(clients) };
      const one = () => stdio.request("tools/call", { name: "evaluate-lisp", arguments: { code: CODE } });
      const atOnce = { what: `${CALLS} calls over stdio`, run: () => shared(clients, one) };
      const echoed = { what: `${CALLS} calls of an SDK echo tool over HTTP`, run: () => echo.calls(clients) };
      const name = `http, ${clients} at once`;
      figures.push(await ratio(`${name}, against stdio`, subject, atOnce, ROUNDS));
      figures.push(await ratio(`${name}, against an echo`, subject, echoed, ROUNDS));
    }
    return figures;
  } finally {
    await Promise.all([server.stop(), echo.stop(), stdio.stop()]);
  }
}

/**
 * @param {number} clients
 * @param {(client: number) => Promise<unknown>} call
 */
async function shared(clients, call) {
  const each = async (/** @type {unknown} */ _, /** @type {number} */ client) => {
    for (let count = 0; count < CALLS / clients; count++) await call(client);
  };
  await Promise.all(Array.from({ length: clients }, each));
}

/** A program that serves a tool over HTTP, and connections to it that stay open. */
class HttpProcess {
  #agent = new Agent({ keepAlive: true });
  #process;
  #port;
  #tool;

  /** @param {import("node:child_process").ChildProcess} process @param {number} port @param {string} tool */
  constructor(process, port, tool) {
    this.#process = process;
    this.#port = port;
    this.#tool = tool;
  }

  /** @param {string} bin @param {string} tool @param {readonly string[]} args */
  static async start(bin, tool, args) {
    const child = spawn(process.execPath, [bin, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: child.stdout })) {
      const [, port] = /(\d+)(?:\/mcp)?$/.exec(line) ?? [];
      if (port !== undefined) return new HttpProcess(child, Number(port), tool);
    }
    throw new Error(`${bin} ended before it listened.`);
  }

  /** @param {number} clients each is an agent of its own */
  calls(clients) {
    return shared(clients, (client) => this.#call(client));
  }

  async stop() {
    this.#agent.destroy();
    const ended = once(this.#process, "close");
    this.#process.kill();
    await ended;
  }

  /** @param {number} client @returns {Promise<void>} */
  #call(client) {
    const params = { name: this.#tool, arguments: { code: CODE }, _meta: META };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": this.#tool,
    };
    const path = `/mcp?session=client-${client}`;
    return new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port: this.#port, path, method: "POST", agent: this.#agent, headers });
      sent.once("error", reject);
      sent.once("response", (response) => {
        response.resume();
        response.once("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`HTTP ${response.statusCode}`)),
        );
      });
      sent.end(body);
    });
  }
}
