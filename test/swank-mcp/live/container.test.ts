import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import * as z from "zod";
import { HttpClient } from "../../support/http-client.js";
import { ENVIRONMENT } from "../../support/server-process.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

const run = promisify(execFile);

const words = z.array(z.string()).min(1);

/** The program and its arguments that an instruction of the Dockerfile has. */
function commandOf(dockerfile: string, instruction: string): string[] {
  const [, json = ""] = new RegExp(`^${instruction}.*?(\\[.*\\])$`, "m").exec(dockerfile) ?? [];
  return words.parse(JSON.parse(json));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("the Dockerfile", () => {
  let folder: string;
  let dockerfile: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "container-"));
    dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
  });
  after(() => rm(folder, { recursive: true }));

  it("serves clients with what it installs, and is healthy meanwhile", async () => {
    expect(dockerfile).to.include("RUN sh scripts/container/install.sh /installed");
    await run("sh", [join(ROOT, "scripts/container/install.sh"), folder]);
    const port = String(await freePort());
    const set = [...dockerfile.matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
    const env = {
      ...process.env,
      ...ENVIRONMENT,
      ...Object.fromEntries(set.map(([name, value]) => [name, value?.replace("7787", port)])),
      PATH: `${folder}/bin:${process.env["PATH"]}`,
      SWANK_MCP_TOKEN_FILE: join(folder, "tokens.json"),
    };
    const [program = "", ...args] = commandOf(dockerfile, "ENTRYPOINT");
    const server = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(server, "close");
    let output = "";
    server.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    while (!output.includes("mcpServers") && server.exitCode === null) await setTimeout(20);
    const [check = "", ...how] = commandOf(dockerfile, "HEALTHCHECK");
    await run(check, how, { env });
    const { stdout: token } = await run("swank-mcp", ["token", "add", "reviewer"], { env });
    const client = new HttpClient({ url: new URL(`http://127.0.0.1:${port}/mcp`), token: token.trim() });
    expect(await client.evaluate('(probe-file "bin/")')).to.include(folder);
    server.kill("SIGTERM");
    await ended;
    const unhealthy = await run(check, how, { env }).catch((error: Error) => error);
    expect(unhealthy).to.be.instanceOf(Error);
  });
});
