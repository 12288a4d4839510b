// The least that an MCP server on the SDK can do: one tool that gives back its argument.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "0.1.0" });
const inputSchema = z.strictObject({ code: z.string() });
server.registerTool("echo", { inputSchema }, ({ code }) => ({ content: [{ type: "text", text: code }] }));
process.stdin.on("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
