import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { inRepository } from "../setup/paths.mjs";

/**
 * What the installed swank-mcp answers to `tools/list`, asked in plain JSON so that nothing of the SDK's client counts in.
 *
 * @returns {Promise<unknown>} the `result` of the answer
 * @throws {Error} when the server ends before it has answered
 */
export async function listTools() {
  const server = spawn(process.execPath, [inRepository("node_modules/.bin/swank-mcp")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => server.once("close", resolve));
  try {
    const send = (/** @type {object} */ message) =>
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 1, method: "initialize", params: INITIALIZE });
    for await (const line of createInterface({ input: server.stdout })) {
      const message = JSON.parse(line);
      if (message.id === 1) {
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list" });
      }
      if (message.id === 2) return message.result;
    }
    throw new Error("swank-mcp ended before it answered tools/list.");
  } finally {
    server.stdin.end();
    await ended;
  }
}

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "tools-list-budget", version: "0.1.0" },
};
