import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = `${ROOT}packages/swank-mcp/bin/swank-mcp.js`;

/** How often, and how long apart in milliseconds, something is looked for that takes its time. */
const LOOKS = 100;
const PAUSE = 100;

/** An answer that was not the one that the agent went by. */
export class WrongTurn extends Error {}

/** Plays an agent: calls tools, writes down what it calls and what it is told, and gives up when that is not what it expects. */
export class Agent {
  #client = new Client({ name: "debugging-example", version: "1" });
  #write;

  /** @param {(text: string) => void} write takes the transcript, in Markdown */
  constructor(write) {
    this.#write = write;
  }

  async start() {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "--no-user-init"],
      cwd: ROOT,
      env: process.env,
    });
    await this.#client.connect(transport);
    await this.#client.listTools();
  }

  /** Ends the server, and with it the image. */
  async end() {
    await this.#client.close();
  }

  /** Says what it thinks. @param {string} text */
  think(text) {
    this.#write(`${text}\n\n`);
  }

  /**
   * Calls a tool.
   *
   * @param {string} name
   * @param {object} args
   * @param {RegExp} expected what the answer must say
   * @returns {Promise<any>} the structured content, if the answer has any
   */
  async call(name, args, expected) {
    const answer = await this.#send(name, args);
    this.#record(name, args, answer.text);
    if (!expected.test(answer.text)) throw new WrongTurn(`${name} was expected to say ${expected}.`);
    return answer.data;
  }

  /** Calls a tool until its answer says something; the last call is written down. Takes and gives the same as `call`. */
  async callUntil(name, args, expected) {
    for (let look = 1; look < LOOKS; look++) {
      if (expected.test((await this.#send(name, args)).text)) break;
      await setTimeout(PAUSE);
    }
    return this.call(name, args, expected);
  }

  /** @param {string} code @param {RegExp} expected */
  evaluate(code, expected) {
    return this.call("evaluate-lisp", { code }, expected);
  }

  /** The index of the first frame of a function, or of what is inside of it. @param {string} name with its package */
  async frameOf(name, args = {}) {
    const { frames } = await this.call("debugger_frames", { end: 6, ...args }, new RegExp(`"function":"[^"]*${name}`));
    return frames.find((frame) => frame.function.includes(name)).index;
  }

  async #send(name, args) {
    const { content, structuredContent } = await this.#client.callTool({ name, arguments: args });
    return { text: content.map((block) => block.text).join("\n\n"), data: structuredContent };
  }

  #record(name, args, text) {
    this.#write(`\`\`\`text\n> ${name} ${shownArguments(args)}\n${shownAnswer(text)}\n\`\`\`\n\n`);
  }
}

/** Code of several lines as it is, everything else as JSON. */
function shownArguments({ code, ...rest }) {
  if (!code?.includes("\n")) return JSON.stringify({ ...rest, ...(code === undefined ? {} : { code }) });
  const others = Object.keys(rest).length === 0 ? "" : `${JSON.stringify(rest)} `;
  return `${others}with this code:\n${code.trim().replace(/^(?=.)/gm, "  ")}`;
}

/** A line for each frame, and nothing that is true of this machine or this moment only. */
function shownAnswer(text) {
  return text
    .replaceAll(ROOT, "")
    .replaceAll(',{"index"', ',\n {"index"')
    .replace(/"pid":\d+/, '"pid":4711')
    .replace(/"since":"[^"]*"/g, '"since":"..."');
}
