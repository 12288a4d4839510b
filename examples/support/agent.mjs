import { readFile, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = `${ROOT}packages/swank-mcp/bin/swank-mcp.js`;

/** Maximum number of repeated calls, and the milliseconds between them. */
const LOOKS = 100;
const PAUSE = 100;

/** Milliseconds until a call fails. The first one launches an image, which may compile libraries. */
const PATIENCE = 300_000;

/** An answer that the agent did not expect. */
export class WrongTurn extends Error {}

/** Plays an agent: calls tools, records calls and answers, and fails at an unexpected answer. */
export class Agent {
  #client = new Client({ name: "example-agent", version: "1" });
  #write;
  #folder;

  /**
   * @param {(text: string) => void} write receives the transcript, in Markdown
   * @param {string} [folder] the image's directory, which the transcript leaves out; ends with `/`
   */
  constructor(write, folder = ROOT) {
    this.#write = write;
    this.#folder = folder;
  }

  /** @param {readonly string[]} [options] of `swank-mcp` @param {Readonly<Record<string, string>>} [environment] in addition to this process's */
  async start(options = [], environment = {}) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "--no-user-init", ...options],
      cwd: this.#folder,
      env: { ...process.env, ...environment },
    });
    await this.#client.connect(transport);
    await this.#client.listTools();
  }

  /** Ends the server, which ends the image. */
  async end() {
    await this.#client.close();
  }

  /** Records a step of the agent's reasoning. @param {string} text */
  think(text) {
    this.#write(`${text}\n\n`);
  }

  /**
   * Calls a tool.
   *
   * @param {string} name
   * @param {object} args
   * @param {RegExp} expected must match the answer's text
   * @returns {Promise<any>} the answer's structured content, or its text if it has none
   */
  async call(name, args, expected) {
    const { data, text } = await this.answerOf(name, args, expected);
    return data ?? text;
  }

  /** Calls a tool as `call` does, and returns its text, structured content (`data`) and `_meta`. */
  async answerOf(name, args, expected) {
    const answer = await this.#send(name, args);
    this.#record(name, args, answer.text);
    if (!expected.test(answer.text)) throw new WrongTurn(`${name} was expected to say ${expected}.`);
    return answer;
  }

  /** Calls a tool until its answer matches, and records the last call. Arguments and result are those of `call`. */
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

  /**
   * Edits a file of the image's directory, and records the edit.
   *
   * @param {string} file
   * @param {string} old the text to replace; "": nothing, the new text is appended
   * @param {string} text the new text
   */
  async edit(file, old, text) {
    const path = `${this.#folder}${file}`;
    const before = await readFile(path, "utf8");
    if (!before.includes(old)) throw new WrongTurn(`${file} was expected to contain ${old}.`);
    await writeFile(path, old === "" ? before + text : before.replace(old, () => text));
    const lines = (sign, lines) => lines.trim().replace(/^/gm, `${sign} `).replace(/ $/gm, "");
    const removed = old === "" ? "" : `${lines("-", old)}\n`;
    this.#write(`\`\`\`text\n> edit ${file}\n${removed}${lines("+", text)}\n\`\`\`\n\n`);
  }

  /** Returns the index of the first frame of a function, or of a local function in it. @param {string} name with its package */
  async frameOf(name, args = {}) {
    const { frames } = await this.call("debugger_frames", { end: 6, ...args }, new RegExp(`"function":"[^"]*${name}`));
    return frames.find((frame) => frame.function.includes(name)).index;
  }

  async #send(name, args) {
    const { content, structuredContent, _meta } = await this.#client.callTool({ name, arguments: args }, undefined, {
      timeout: PATIENCE,
    });
    return { text: content.map((block) => block.text).join("\n\n"), data: structuredContent, meta: _meta };
  }

  #record(name, args, text) {
    this.#write(`\`\`\`text\n> ${name} ${shownArguments(args)}\n${this.#shownAnswer(text)}\n\`\`\`\n\n`);
  }

  /** Formats an answer: one line per frame, without paths, addresses, process ids and times, and without what depends on installed libraries. */
  #shownAnswer(text) {
    return text
      .replaceAll(this.#folder, "")
      .replace(/\n\nNot compared, [^\n]*: \/[^\n]*/g, "")
      .replace(/\n\n?Time: [\d.]+ s(?=\n|$)/g, "")
      .replace(/\b\d+\.\d\d s\b/g, "0.01 s")
      .replace(/ \{[0-9A-F]{10}\}/g, " {...}")
      .replace(/(?<=^LCOV: ).*\//m, "/tmp/")
      .replaceAll(',{"index"', ',\n {"index"')
      .replace(/\(pid \d+\)/, "(pid 4711)")
      .replace(/"pid":\d+/, '"pid":4711')
      .replace(/"since":"[^"]*"/g, '"since":"..."');
  }
}

/** Formats arguments: code of several lines as it is, everything else as JSON. */
function shownArguments({ code, ...rest }) {
  if (!code?.includes("\n")) return JSON.stringify({ ...rest, ...(code === undefined ? {} : { code }) });
  const others = Object.keys(rest).length === 0 ? "" : `${JSON.stringify(rest)} `;
  return `${others}with this code:\n${code.trim().replace(/^(?=.)/gm, "  ")}`;
}
