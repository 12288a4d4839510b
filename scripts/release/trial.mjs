// Tries the packed files as strangers get them: in folders of their own, whose paths have spaces and letters of other languages.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { runInstalled, SetupError } from "../setup/programs.mjs";
import { environment } from "../testing/run-tests.mjs";
import { tryEmacs } from "./emacs.mjs";

const NODE_VERSIONS = ["20", "22", "24"];

/** What a program imports from the packages. `swank-mcp` itself needs peers, which test/slow/node-versions.test.ts installs. */
const IMPORTS = `await import("sexp-parser"); await import("swank-client"); await import("swank-client/launch");`;

/** The tests with the examples of the contracts, which start the server that SWANK_TEST_PROGRAM names. */
const EXAMPLES = [
  "-g",
  "contract's",
  "test/dist/swank-mcp/live/symbols.test.js",
  "test/dist/swank-mcp/live/approval.test.js",
];

/**
 * Installs and starts everything.
 *
 * @param {import("./release.mjs").Artifacts} artifacts
 * @param {string} version
 * @throws {SetupError} at the first thing that does not work
 */
export async function tryArtifacts({ packages, mcpb, emacs }, version) {
  const folder = await mkdtemp(join(tmpdir(), "release 2ü λ "));
  try {
    /** @type {string[]} */
    const tarballs = [];
    for (const path of packages) {
      tarballs.push(join(folder, basename(path)));
      await cp(path, join(folder, basename(path)));
    }
    for (const node of NODE_VERSIONS)
      await step(`packages with Node ${node}`, () => tryNode(node, tarballs, version, folder));
    await step(".mcpb", () => tryMcpb(mcpb, folder));
    await step("Emacs package", async () => tryEmacs(emacs, await made(folder, "home")));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} name @param {() => Promise<void>} action */
async function step(name, action) {
  await action();
  process.stdout.write(`ok     ${name}\n`);
}

/** @param {string} folder @param {string} name */
async function made(folder, name) {
  await mkdir(join(folder, name), { recursive: true });
  return join(folder, name);
}

/**
 * Installs the packages with a version of Node, imports the libraries, and runs the examples with the server that npx starts from its tarball.
 *
 * @param {string} node version
 * @param {readonly string[]} tarballs
 * @param {string} version that the server must state
 * @param {string} folder
 */
async function tryNode(node, tarballs, version, folder) {
  const home = await made(folder, `Node ${node}`);
  await writeFile(join(home, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", `node@${node}`], home);
  const path = `${join(home, "node_modules/node/bin")}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH: path };
  const project = await made(home, "a project");
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs], project, env);
  await run("node", ["--input-type=module", "-e", IMPORTS], project, env);
  const server = await program(home, {
    command: "npx",
    args: ["--yes", "--package", tarballs.at(-1) ?? "", "swank-mcp"],
    env: { PATH: path, npm_config_cache: join(folder, "npm cache"), SWANK_MCP_CACHE_DIR: join(folder, "cache") },
  });
  const stated = await run(server, ["--version"], home);
  if (stated.trim() !== version) throw new SetupError(`With Node ${node}, swank-mcp --version prints ${stated}`);
  await tryExamples(server);
}

/**
 * Unpacks the .mcpb file, and runs the examples with the server that its manifest describes, with default settings.
 *
 * @param {string} mcpb
 * @param {string} folder
 */
async function tryMcpb(mcpb, folder) {
  const { unzipSync } = await import("fflate");
  const home = await made(folder, "unpacked");
  for (const [name, data] of Object.entries(unzipSync(await readFile(mcpb)))) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), data);
  }
  /** @type {ReturnType<typeof import("../manifests/manifests.mjs").bundleManifest>} */
  const manifest = JSON.parse(await readFile(join(home, "manifest.json"), "utf8"));
  const { command, args, env } = manifest.server.mcp_config;
  const filled = (/** @type {string} */ text) =>
    text
      .replace(/\$\{__dirname\}/, () => home)
      .replace(/\$\{user_config\.(\w+)\}/, (_, key) => manifest.user_config[key]?.default ?? "");
  await tryExamples(
    await program(folder, {
      command,
      args: args.map(filled),
      env: {
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
        SWANK_MCP_CACHE_DIR: join(home, "cache"),
      },
    }),
  );
}

/**
 * Writes a program that starts a server as a host would. Its cache is a new one, so that the Lisp code is compiled from where it is installed.
 *
 * @param {string} folder
 * @param {{ command: string, args: readonly string[], env: Readonly<Record<string, string>> }} server
 * @returns {Promise<string>} its path
 */
async function program(folder, { command, args, env }) {
  const path = join(folder, "server");
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const lines = [
    "#!/bin/sh",
    `cd ${quoted(folder)}`,
    ...exports,
    `exec ${[command, ...args].map(quoted).join(" ")} "$@"`,
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  await chmod(path, 0o755);
  return path;
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** @param {string} server */
async function tryExamples(server) {
  const env = { ...environment(), SWANK_TEST_PROGRAM: server };
  const code = await runInstalled("mocha/bin/mocha.js", ["--timeout", "300000", ...EXAMPLES], { env });
  if (code !== 0) throw new SetupError("The examples of the contracts failed; see above.");
}

/** @param {string} command @param {readonly string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} [env] */
async function run(command, args, cwd, env = process.env) {
  try {
    return (await promisify(execFile)(command, args, { cwd, env })).stdout;
  } catch (error) {
    throw new SetupError(`${basename(command)} ${args.join(" ")} failed:\n${error}`);
  }
}
