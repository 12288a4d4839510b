import { expect } from "chai";
import { CLIENT_HOSTS } from "#swank-mcp/base/client-setup.js";
import { HOSTS } from "#swank-mcp/base/commands.js";
import { entryText, withEntry } from "#swank-mcp/setup/entry.js";

const ENTRY = { command: "/opt/swank mcp/bin", args: ["--attach", "--load=/é.lisp"] };

/** The configuration with the entry. */
function edited(host: keyof typeof CLIENT_HOSTS, before: string, entry = ENTRY): string {
  const result = withEntry(CLIENT_HOSTS[host], entry, before);
  if ("problem" in result) throw new Error(result.problem);
  return result.text;
}

function problem(host: keyof typeof CLIENT_HOSTS, before: string): string {
  const result = withEntry(CLIENT_HOSTS[host], ENTRY, before);
  if ("text" in result) throw new Error(`Nothing was wrong; it became ${result.text}`);
  return result.problem;
}

describe("withEntry", () => {
  for (const host of HOSTS)
    it(`makes a configuration of ${host}, and changes nothing the second time`, () => {
      const text = edited(host, "");
      expect(text).to.equal(entryText(CLIENT_HOSTS[host], ENTRY));
      expect(edited(host, text)).to.equal(text);
    });

  it("names the transport where the client wants it", () => {
    expect(JSON.parse(edited("vscode", ""))).to.deep.equal({ servers: { swank: { type: "stdio", ...ENTRY } } });
    expect(JSON.parse(edited("claude", ""))).to.deep.equal({ mcpServers: { swank: { type: "stdio", ...ENTRY } } });
    expect(JSON.parse(edited("cursor", "", { command: "x", args: [] }))).to.deep.equal({
      mcpServers: { swank: { command: "x" } },
    });
  });

  it("keeps comments, other servers, indentation and line ends of JSON", () => {
    const before =
      '{\r\n\t// mine\r\n\t"theme": "dark",\r\n\t"mcpServers": {\r\n\t\t"other": { "command": "o" }, // theirs\r\n\t},\r\n}\r\n';
    const after = edited("gemini", before, { command: "x", args: [] });
    expect(after).to.include('"other": { "command": "o" }').and.include("// mine\r\n").and.include("// theirs");
    expect(after).to.match(/\r\n\t\t"swank": \{\r\n\t\t\t"command": "x"\r\n\t\t\}/);
  });

  it("changes the command and the arguments of an entry, and keeps what else it has", () => {
    const before = '{"mcpServers": {"swank": {"command": "old", "args": ["--x"], "env": {"A": "1"}, "trust": true}}}\n';
    expect(JSON.parse(edited("gemini", before))).to.deep.equal({
      mcpServers: { swank: { command: ENTRY.command, args: ENTRY.args, env: { A: "1" }, trust: true } },
    });
    expect(JSON.parse(edited("gemini", before, { command: "x", args: [] })).mcpServers.swank).to.deep.equal({
      command: "x",
      env: { A: "1" },
      trust: true,
    });
  });

  it("adds a table to TOML after all that is there", () => {
    const before = '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "o"\nargs = [\n"[a]",\n]';
    const after = edited("codex", before);
    expect(after.startsWith(`${before}\n\n[mcp_servers.swank]\ncommand = "/opt/swank mcp/bin"\n`)).to.equal(true);
  });

  it("ends lines of TOML as the others do, and reads all numbers", () => {
    const after = edited("codex", 'model = "m"\r\nlimit = 9223372036854775807\r\n');
    expect(after)
      .to.include("\r\n\r\n[mcp_servers.swank]\r\ncommand")
      .and.not.match(/[^\r]\n/);
  });

  it("keeps the type of an entry of a client that needs none", () => {
    const before = '{"mcpServers": {"swank": {"type": "stdio", "command": "old"}}}\n';
    expect(JSON.parse(edited("cursor", before, { command: "x", args: [] }))).to.deep.equal({
      mcpServers: { swank: { type: "stdio", command: "x" } },
    });
  });

  it("leaves alone an entry for a server that the client does not start", () => {
    for (const entry of ['{"url": "http://127.0.0.1:7787/mcp"}', '{"type": "http"}', '{"httpUrl": "http://x"}'])
      expect(problem("claude", `{"mcpServers": {"swank": ${entry}}}`)).to.equal(
        "has an entry swank for a server with an address",
      );
  });

  it("leaves alone what it cannot read, or would damage", () => {
    expect(problem("cursor", '{"mcpServers": ')).to.equal("is not JSON");
    expect(problem("cursor", "[]")).to.equal("holds no JSON object");
    expect(problem("cursor", '{"mcpServers": []}')).to.equal("has a mcpServers that is no object");
    expect(problem("cursor", '{"mcpServers": {"swank": "x"}}')).to.equal("has an entry swank that is no object");
    expect(problem("cursor", "null")).to.equal("holds no JSON object");
    expect(problem("cursor", '{"mcpServers": {"swank": {"command": "a"}}, "mcpServers": {}}')).to.equal(
      "has a name twice",
    );
    expect(problem("codex", "a = ")).to.equal("is not TOML");
    expect(problem("codex", '[mcp_servers.swank]\ncommand = "old"\n')).to.equal("has another entry swank");
    expect(problem("codex", 'mcp_servers = { a = { command = "x" } }\n')).to.equal("has its mcp_servers in one line");
  });
});
