import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { inRepository } from "../setup/paths.mjs";

/** The package that the manifests describe. */
export const SERVER = "packages/swank-mcp";

/** Name of the server in clients. It is a part of the names of its tools, so it is short. */
const NAME = "swank";

/** The programs of the hosts, `PLUGIN@MARKETPLACE`, name these. */
export const MARKETPLACE = "swank-toolkit";

/**
 * The options that a host asks the user for, by their environment variables. An empty variable counts as unset.
 *
 * @type {Record<string, { variable: string, title: string, description: string }>}
 */
export const SETTINGS = {
  image: {
    variable: "SWANK_MCP_ATTACH",
    title: "Image",
    description: "Port, or HOST:PORT, of the Swank of a running image. Empty: an image is launched.",
  },
  approval: {
    variable: "SWANK_MCP_APPROVAL",
    title: "Approval",
    description: "Whether changes to a stopped program need your approval: ask, strict or off. Empty: ask.",
  },
  tools: {
    variable: "SWANK_MCP_TOOLS",
    title: "Tools",
    description: "Families of tools: core, debug, breakpoints, code, runtime, separated by commas. Empty: all.",
  },
};

/**
 * The data that all manifests share, from the package.json of swank-mcp.
 *
 * @typedef {{ name: string, mcpName: string, version: string, description: string, author: string, license: string, keywords: string[], homepage: string,
 *   repository: { url: string, directory: string }, engines: { node: string } }} About
 */

/** @returns {Promise<About>} */
export async function about() {
  return JSON.parse(await readFile(inRepository(`${SERVER}/package.json`), "utf8"));
}

/**
 * The command that starts the published server in the version that the manifest describes. `npm:` names the registry: some hosts start the server in
 * the plugin's folder, where npx would take the package of this repository instead, which is not built.
 *
 * @param {About} about
 */
const npx = ({ name, version }) => ({ command: "npx", args: ["-y", `npm:${name}@${version}`] });

/** What the manifests of plugins have in common. @param {About} about */
function plugin(about) {
  const { name, version, description, author, license, keywords, homepage } = about;
  return {
    name,
    version,
    description,
    author: { name: author },
    homepage,
    repository: webAddress(about),
    license,
    keywords,
  };
}

/** @param {About} about */
const webAddress = ({ repository }) => repository.url.replace(/^git\+|\.git$/g, "");

/**
 * The manifests by their paths in the repository, whose root is the plugin of every host. CONTRIBUTING.md says who reads which.
 *
 * @type {Record<string, (about: About) => unknown>}
 */
const MANIFESTS = {
  "plugin.json": (about) => ({ $schema: agentPlugins("plugin"), ...plugin(about) }),
  "mcp.json": (about) => ({
    $schema: agentPlugins("mcp"),
    mcpServers: { [NAME]: { type: "stdio", ...npx(about) } },
  }),
  ".claude-plugin/plugin.json": (about) => ({ ...plugin(about), mcpServers: { [NAME]: npx(about) } }),
  ".claude-plugin/marketplace.json": ({ name, author, description }) => ({
    name: MARKETPLACE,
    description,
    owner: { name: author },
    plugins: [{ name, source: "./", description, category: "development" }],
  }),
  ".agents/plugins/marketplace.json": ({ name }) => ({
    name: MARKETPLACE,
    interface: { displayName: "Swank toolkit" },
    plugins: [
      {
        name,
        source: { source: "local", path: "./" },
        policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
        category: "Developer Tools",
      },
    ],
  }),
  ".cursor-plugin/plugin.json": (about) => ({
    ...plugin(about),
    displayName: "Swank",
    skills: "./skills/",
    mcpServers: "./mcp.json",
  }),
  "server.json": (about) => ({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: about.mcpName,
    title: "Swank",
    description: about.description,
    version: about.version,
    websiteUrl: about.homepage,
    repository: { url: webAddress(about), source: "github", subfolder: about.repository.directory },
    packages: [
      {
        registryType: "npm",
        registryBaseUrl: "https://registry.npmjs.org",
        identifier: about.name,
        version: about.version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        environmentVariables: Object.values(SETTINGS).map(({ variable, description }) => ({
          name: variable,
          description,
        })),
      },
    ],
  }),
};

/** @param {"plugin" | "mcp"} kind */
const agentPlugins = (kind) => `https://agent-plugins.org/schemas/1.0.0/${kind}.schema.json`;

/**
 * Gemini CLI removes variables from the environment of servers, above all in continuous integration, so this names those that must arrive.
 *
 * @param {About} about
 * @param {readonly string[]} variables
 */
function geminiExtension(about, variables) {
  const { name, version, description } = about;
  const env = Object.fromEntries(variables.map((variable) => [variable, `\${${variable}:-}`]));
  return { name, version, description, mcpServers: { [NAME]: { ...npx(about), env } } };
}

/** The environment variables that the server reads when a host starts it. Needs the build. */
async function variables() {
  const { ALL_OPTIONS } = await import("../../packages/swank-mcp/dist/base/config.js");
  const { environmentName } = await import("../../packages/swank-mcp/dist/base/option.js");
  // The others are for people and for the program's other commands.
  const options = ALL_OPTIONS.filter(({ summary }) => !/^(?:For|Print) /.test(summary));
  return ["SBCL", "SBCL_HOME", ...options.map(environmentName)];
}

/** The manifest.json of the .mcpb file. @param {About} about @param {readonly { name: string, description: string }[]} tools */
export function bundleManifest(about, tools) {
  const settings = Object.entries(SETTINGS);
  return {
    manifest_version: "0.4",
    name: about.name,
    display_name: "Swank",
    version: about.version,
    description: about.description,
    long_description:
      "Attaches to the SBCL in your Emacs, or launches an image. At an error the thread stays stopped, and the agent can look at frames and variables, correct the code and continue. It needs SBCL and Swank. Evaluated code can do anything that you can do: there is no sandbox.",
    author: { name: about.author },
    repository: { type: "git", url: webAddress(about) },
    homepage: about.homepage,
    documentation: `${webAddress(about)}/tree/main/docs`,
    support: `${webAddress(about)}/issues`,
    server: {
      type: "node",
      entry_point: "bin/swank-mcp.js",
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/bin/swank-mcp.js`],
        env: Object.fromEntries(settings.map(([key, { variable }]) => [variable, `\${user_config.${key}}`])),
      },
    },
    tools,
    keywords: about.keywords,
    license: about.license,
    compatibility: { platforms: ["darwin", "linux"], runtimes: { node: about.engines.node } },
    user_config: Object.fromEntries(
      settings.map(([key, { title, description }]) => [
        key,
        { type: "string", title, description, required: false, default: "" },
      ]),
    ),
  };
}

/** The configuration of VS Code for a project, `.vscode/mcp.json`, for the README. */
export async function vscode() {
  return `\`\`\`json\n${jsonText({ servers: { [NAME]: { type: "stdio", ...npx(await about()) } } })}\`\`\``;
}

/**
 * Every generated file by its path. Skills are copies, because the root of a plugin must contain them: hosts that copy a plugin drop links.
 *
 * @returns {Promise<Map<string, string>>}
 */
async function files() {
  const data = await about();
  const manifests = Object.entries(MANIFESTS).map(([path, make]) => [path, make(data)]);
  manifests.push(["gemini-extension.json", geminiExtension(data, await variables())]);
  const made = new Map(manifests.map(([path, manifest]) => [String(path), jsonText(manifest)]));
  for (const path of await filesBelow(`${SERVER}/skills`))
    made.set(`skills/${path}`, await readFile(inRepository(`${SERVER}/skills/${path}`), "utf8"));
  return made;
}

/** Writes every generated file, and removes copies of skills that are gone. Needs the build. */
export async function writeManifests() {
  const made = await files();
  for (const [path, text] of made) {
    await mkdir(dirname(inRepository(path)), { recursive: true });
    await writeFile(inRepository(path), text);
  }
  for (const path of await staleSkills(made)) await rm(inRepository(path));
}

/**
 * Checks that every generated file is up to date, and follows the rules of its format. Needs the build.
 *
 * @returns {Promise<string[]>} a sentence for each problem
 */
export async function checkManifests() {
  const made = await files();
  const problems = (await staleSkills(made)).map((path) => `${path} is no copy of a skill in ${SERVER}/skills.`);
  for (const [path, text] of made) {
    const present = await readFile(inRepository(path), "utf8").catch(() => undefined);
    if (present !== text) problems.push(`${path} is out of date. Run \`npm run docs\` and commit it.`);
    if (path.endsWith(".json")) problems.push(...(await manifestProblems(path, JSON.parse(text))));
  }
  return [...problems, ...(await manifestProblems("manifest.json", bundleManifest(await about(), [])))];
}

/**
 * Checks a manifest by the rules of its format.
 *
 * @param {string} path that it has in the repository, or in the .mcpb file
 * @param {unknown} manifest
 * @returns {Promise<string[]>} a sentence for each violation
 */
export async function manifestProblems(path, manifest) {
  // Commands import this file before npm's packages are installed, which the rules need.
  const { RULES } = await import("./rules.mjs");
  const rule = RULES[path];
  if (rule === undefined) return [`${path} has no rules in scripts/manifests/rules.mjs.`];
  const { error } = rule.safeParse(manifest);
  return (error?.issues ?? []).map((issue) => `${path}, ${issue.path.join(".") || "as a whole"}: ${issue.message}`);
}

/** @param {ReadonlyMap<string, string>} made */
async function staleSkills(made) {
  return (await filesBelow("skills")).map((path) => `skills/${path}`).filter((path) => !made.has(path));
}

/** @param {string} folder which may not exist */
async function filesBelow(folder) {
  const entries = await readdir(inRepository(folder), { recursive: true, withFileTypes: true }).catch(() => []);
  const start = inRepository(folder).length + 1;
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(start))
    .sort();
}

/** JSON as Biome formats it: short lists are on one line. @param {unknown} data */
export function jsonText(data) {
  return `${JSON.stringify(data, null, 2)}\n`.replace(
    /^(?<head>.*)\[(?<items>[^[\]{}]*?)\n\s*\]/gm,
    (text, head, items) => {
      const line = `${head}[${items.trim().replace(/\s*\n\s*/g, " ")}]`;
      return line.length < 120 ? line : text;
    },
  );
}
