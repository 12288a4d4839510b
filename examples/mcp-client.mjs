// An MCP client without a library: it exchanges lines of JSON with the server.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../packages/swank-mcp/bin/swank-mcp.js", import.meta.url));
const server = spawn(process.execPath, [bin], { stdio: ["pipe", "pipe", "inherit"] });

const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line);
  const settle = waiting.get(id);
  waiting.delete(id);
  if (error) settle?.reject(new Error(error.message));
  else settle?.resolve(result);
});

let lastId = 0;
function send(message) {
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
function request(method, params) {
  const id = ++lastId;
  send({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}
async function callTool(name, args = {}) {
  const { content, isError } = await request("tools/call", { name, arguments: args });
  console.log(`--- ${name} ${JSON.stringify(args)}${isError ? " (error)" : ""}`);
  for (const { text } of content) console.log(text);
}

const { serverInfo } = await request("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "example", version: "1" },
});
send({ method: "notifications/initialized" });
console.log(`${serverInfo.name} ${serverInfo.version}`);
const { tools } = await request("tools/list");
console.log(tools.map(({ name }) => name).join(", "));

await callTool("evaluate-lisp", { code: '(format t "Hello~%") (values (+ 1 2) :done)' });
await callTool("evaluate-lisp", { code: "(defun halve (n) (/ n 0)) (halve 10)" });
await callTool("describe-last-error");
await callTool("evaluate-lisp", { code: "(defun halve (n) (/ n 2)) (halve 10)" });

// The end of its input ends the server, which ends the image.
server.stdin.end();
server.on("exit", (code) => process.exit(code ?? 1));
