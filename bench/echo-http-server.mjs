// A minimal MCP server on the SDK over HTTP, with one tool that returns its argument. Prints its port.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const inputSchema = z.strictObject({ code: z.string() });
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "echo", version: "0.1.0" });
  server.registerTool("echo", { inputSchema }, ({ code }) => ({ content: [{ type: "text", text: code }] }));
  return server;
});
const answer = toNodeHandler(handler);
const http = createServer((req, res) => {
  const { method = "GET", url = "/", headers } = req;
  void answer({ method, url, headers, [Symbol.asyncIterator]: () => req[Symbol.asyncIterator]() }, res);
}).listen(0, "127.0.0.1", () => {
  const address = http.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
