import { resolve } from "node:path";
import { ownCommand } from "./base/client-setup.js";
import { type Config, readConfig } from "./base/config.js";
import { helpText } from "./base/help.js";
import { Lifetime, OutputQueue, type Service } from "./base/lifetime.js";
import { type Log, openLog, startLine } from "./base/log.js";
import { OptionError } from "./base/option.js";
import { emacsFolder, VERSION } from "./base/version.js";
import { checkFiles } from "./check-files.js";
import { TOOL_COMMANDS } from "./console/commands.js";
import { serveConsole } from "./console/console.js";
import { serveStdio } from "./mcp/stdio.js";
import { type ClientTools, clientTools, serverOf } from "./serve.js";
import type { ToolServer } from "./tools/tool-server.js";

const USAGE_ERROR = 2;

/** How long standard output may stay unread, to which the command page writes nothing, in milliseconds. */
const PAGE_PATIENCE = 0;

/** How long `--help` may stay unread in a pager, in milliseconds. */
const PAGER_PATIENCE = 600_000;

const output = new OutputQueue(process.stdout);

async function begin(lifetime: Lifetime): Promise<Service> {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config.help !== undefined) return print(helpText(config.help), lifetime);
  if (config.version) return print(`${VERSION}\n`, lifetime);
  if (config.emacsPath) return print(`${emacsFolder()}\n`, lifetime);
  if (config.command === "check") {
    const { text, exitCode } = await checkFiles(config.files, config);
    return print(text, lifetime, exitCode);
  }
  if (config.tokenAction !== undefined) {
    const { changeTokens, Tokens, tokenFileOf } = await import("./http/tokens.js");
    return print(changeTokens(new Tokens(tokenFileOf(config, process.env)), config.tokenAction), lifetime);
  }
  if (config.setupHost !== undefined) {
    const { entryOf, setUpHost } = await import("./setup/setup.js");
    const machine = { environment: process.env, platform: process.platform };
    const entry = entryOf(process.argv[1] ?? "swank-mcp", config.entryArgs);
    const { text, exitCode } = await setUpHost({ host: config.setupHost, entry, dryRun: config.dryRun, machine });
    return print(text, lifetime, exitCode);
  }
  if (config.command === "doctor") {
    const { examine } = await import("./doctor/doctor.js");
    const { text, exitCode } = await examine(config, process.env);
    return print(text, lifetime, exitCode);
  }
  const log = openLog(config);
  lifetime.logTo(log);
  log(startLine(config));
  return config.page === undefined ? serve(config, log, lifetime) : serveWithPage(config, log, lifetime);
}

/** Opens the tools of the only client of this process. */
type OpenTools = (name: string, names?: ReadonlyMap<string, string>) => ToolServer;

/** Serves agents, and a page beside them. Only then is the image shared in this process, and the code of the page needed. */
async function serveWithPage(config: Config, log: Log, lifetime: Lifetime): Promise<Service> {
  const { Page } = await import("./page/page.js");
  const page = await Page.open(config, log).catch((error: unknown) => {
    // Two hosts may start the server with the same options, and the page of one must not cost the other its agent.
    if (config.command === "page" || !(error instanceof OptionError)) throw error;
    const why = `${error.message} This server goes on without a page.`;
    log(`page: ${why}`);
    process.stderr.write(`swank-mcp: ${why}\n`);
  });
  if (page === undefined) return serve(config, log, lifetime);
  const clients = clientTools(config, log, page);
  page.serve(clients);
  const close = async () => {
    // At once: the page waits for the answers of an image that hangs until this ends it.
    await Promise.all([page.close(), clients.close()]);
  };
  if (config.command === "page") return { patience: PAGE_PATIENCE, close };
  const open: OpenTools = (name, names) => clients.open(name, name, names);
  const service = await serve(config, log, lifetime, { ...clients, close }, open);
  // Over HTTP, this is what ends the clients.
  if (config.command === "http") return service;
  const end = async () => {
    await service.close?.();
    await close();
  };
  return { ...service, close: end };
}

async function serve(
  config: Config,
  log: Log,
  lifetime: Lifetime,
  clients?: ClientTools,
  open: OpenTools = (_, names) => serverOf(config, log, names),
): Promise<Service> {
  if (config.command === "console") {
    const tools = open("console", TOOL_COMMANDS);
    tools.agent.name.set("console");
    if (config.share !== undefined) tools.agent.host.start();
    return serveConsole(tools, { bin: resolve(process.argv[1] ?? "swank-mcp"), output }, lifetime);
  }
  if (config.command === "http") {
    // Only this command needs the code, which a start on standard input and output should not load.
    const { serveHttp } = await import("./http/serve-http.js");
    return serveHttp({
      config,
      clients: clients ?? clientTools(config, log),
      output,
      log,
      environment: process.env,
    });
  }
  const tools = open("agent");
  const consoleCommand = ownCommand("console", { program: process.argv[1], environment: process.env });
  return serveStdio({ tools, output, log, drainSeconds: config.timeout, consoleCommand }, lifetime);
}

function print(text: string, lifetime: Lifetime, exitCode = 0): Service {
  output.write(text);
  lifetime.end({ why: "the output is complete", exitCode });
  return { patience: PAGER_PATIENCE };
}

/** Reports a wrong command line without a stack: the user can correct it. */
async function beginOrExplain(lifetime: Lifetime): Promise<Service> {
  try {
    return await begin(lifetime);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    process.stderr.write(`swank-mcp: ${error.message}\n`);
    lifetime.end({ why: error.message, exitCode: USAGE_ERROR, hurry: true });
    return { patience: 0 };
  }
}

void new Lifetime(output).run(beginOrExplain);
