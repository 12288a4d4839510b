// An agent finds and corrects a bug while the failing call is stopped. Then the call returns its value. Prints the session as a page.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../packages/swank-mcp/bin/swank-mcp.js", import.meta.url));
const server = spawn(process.execPath, [bin, "--no-user-init"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  waiting.get(id)?.(result);
});

let lastId = 0;
function request(method, params) {
  const id = ++lastId;
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

/** Replaces ids that differ between runs, and omits times. */
function stable(text) {
  return text
    .replace(/\n\n?Time: [\d.]+ s(?=\n|$)/g, "")
    .replace(/thread \d+\//g, "thread N/")
    .replace(/evaluation \d+:/g, "evaluation N:");
}

async function tool(name, args, expected) {
  const { content } = await request("tools/call", { name, arguments: args });
  const shown = Object.entries(args).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  print(`\n\`\`\`\n${[name, ...shown].join("\n")}\n\`\`\`\n`);
  const answer = stable(content.map(({ text }) => text).join("\n\n"));
  print(`\`\`\`\n${answer}\n\`\`\``);
  if (!answer.includes(expected)) throw new Error(`${name} did not lead to ${expected}`);
}

const PROGRAM = `(defun price (item) (getf item :price))
(defun total (items) (loop for item in items sum (* (price item) (getf item :count 1))))
(defparameter *order* '((:name "tea" :price 3 :count 2) (:name "milk") (:name "cake" :price 4)))`;

await request("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "example", version: "1" },
});
print("# A session: from an error to the value of the same call\n");
print(
  "`node examples/agent-session.mjs` writes this page from a real session.\n\nThe agent loads a program and runs it.",
);
await tool("evaluate-lisp", { code: PROGRAM }, "=> *ORDER*");
await tool("evaluate-lisp", { code: "(total *order*)" }, "[ERROR] TYPE-ERROR");
print("\nNIL is not a number. The call is still stopped, so the agent looks for the source of the NIL.");
await tool("evaluate-lisp", { code: "(find-if-not (lambda (item) (getf item :price)) *order*)" }, "milk");
await tool("describe-symbol", { name: "price" }, "Arglist: (ITEM)");
print(
  "\nAn item without a price should count as 0. The agent redefines the function, which does not affect the stopped call.",
);
await tool("evaluate-lisp", { code: "(defun price (item) (getf item :price 0))" }, "=> PRICE");
print("\nThe form has no side effects, so the agent retries it.");
await tool("debugger_invoke_restart", { restart: "RETRY" }, "=> 10");
await tool("list-definitions", {}, "PRICE");

server.stdin.end();
server.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
