import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { inRepository } from "../scripts/setup/paths.mjs";

const CLIENT = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "swank-toolkit-scripts", version: "0.1.0" },
};

const ENDED = "swank-mcp ended before it answered.";

/**
 * The installed swank-mcp on stdio. Uses plain JSON, so that benchmarks do not measure the SDK's client.
 */
export class ServerProcess {
  #process;
  #ended;
  #lastId = 0;
  #hasEnded = false;
  /** @type {Map<number, { resolve: (result: unknown) => void, reject: (error: Error) => void }>} */
  #pending = new Map();

  /**
   * @param {readonly string[]} args of the server
   * @param {string} bin its program
   */
  constructor(args = [], bin = inRepository("node_modules/.bin/swank-mcp")) {
    this.#process = spawn(process.execPath, [bin, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#receive(JSON.parse(line)));
    // A write to a server that has ended fails. The end itself rejects the pending requests.
    this.#process.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => this.#process.once("close", resolve)).then(() => this.#rejectAll());
  }

  /**
   * @returns {Promise<unknown>} the server's description of itself
   * @throws {Error} if the server ends first
   */
  async initialize() {
    const result = await this.request("initialize", CLIENT);
    this.#send({ method: "notifications/initialized" });
    return result;
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<unknown>} the `result` of the answer
   * @throws {Error} if the server answers with an error, whose message it has, or ends first
   */
  request(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(new Error(ENDED));
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  get pid() {
    return this.#process.pid;
  }

  /** @param {NodeJS.Signals} name */
  signal(name) {
    this.#process.kill(name);
  }

  /** Closes the server's stdin and waits for its end. */
  async stop() {
    this.#process.stdin.end();
    await this.#ended;
  }

  /** @param {object} message */
  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** @param {{ id?: number, result?: unknown, error?: { message: string } }} message */
  #receive({ id, result, error }) {
    const call = this.#pending.get(id ?? 0);
    if (id === undefined || call === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(error.message));
  }

  #rejectAll() {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(new Error(ENDED));
    this.#pending.clear();
  }
}
