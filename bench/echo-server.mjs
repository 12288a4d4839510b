// A minimal MCP server on the SDK, with one tool that returns its argument.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const inputSchema = z.strictObject({ code: z.string() });
serveStdio(() => {
  const server = new McpServer({ name: "echo", version: "0.1.0" });
  server.registerTool("echo", { inputSchema }, ({ code }) => ({ content: [{ type: "text", text: code }] }));
  return server;
});
