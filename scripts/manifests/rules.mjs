// What the formats of the manifests require, in our own words: their schemas are not vendored. Where a format tolerates unknown fields, these rules do
// not, because such a field is a mistake. test/slow/hosts.test.ts lets the hosts' own programs judge, too.
import * as z from "zod";

/** The MCP registry cuts nothing and refuses longer ones, so the description of all manifests is as short. */
const description = z.string().min(1).max(100, "A description has at most 100 characters, for the MCP registry.");
const version = z.string().regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/, "A version is exact.");
const url = z.url({ protocol: /^https$/ });
/** A path in the plugin. */
const inside = z.string().regex(/^\.\/(?!.*\.\.)/, "A path begins with ./ and stays in the plugin.");
/** Agent Plugins, section 5.5. */
const name = z
  .string()
  .max(64)
  .regex(/^[a-z0-9](?:[a-z0-9]|[-.](?![-.]))*(?<![-.])$/, "A name has a-z, 0-9, and single - or . inside.");
/** Claude Code and Codex make directories and names of tools of it. */
const marketplaceName = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "The name of a marketplace is in kebab-case.");
const texts = z.array(z.string().min(1));
const author = z.strictObject({ name: z.string().min(1) });
const schema = (/** @type {string} */ kind) => z.literal(`https://agent-plugins.org/schemas/1.0.0/${kind}.schema.json`);

/** A bare name of a program; the version that is started is exact, and that of the registry. */
const command = z.literal("npx");
const args = z.tuple([z.literal("-y"), z.string().regex(/^npm:[a-z-]+@\d+\.\d+\.\d+/)]);
const environment = z.record(z.string().regex(/^[A-Z_]+$/), z.string());
const servers = z.record(
  z.string().regex(/^[a-z-]{1,16}$/),
  z.strictObject({ command, args, env: environment.optional() }),
);

const plugin = z.strictObject({
  name,
  version,
  description,
  author,
  homepage: url,
  repository: url,
  license: z.string(),
  keywords: texts,
});

const variable = z.strictObject({ name: z.string().regex(/^[A-Z_]+$/), description: z.string().min(1) });

const setting = z.strictObject({
  type: z.enum(["string", "number", "boolean", "directory", "file"]),
  title: z.string().min(1),
  description: z.string().min(1),
  required: z.literal(false),
  // Without one, a host passes the name of the setting as its value.
  default: z.string(),
});

/**
 * The rules of each manifest, by its path.
 *
 * @type {Record<string, z.ZodType>}
 */
export const RULES = {
  "plugin.json": plugin.extend({ $schema: schema("plugin") }),
  "mcp.json": z.strictObject({
    $schema: schema("mcp"),
    mcpServers: z.record(z.string(), z.strictObject({ type: z.literal("stdio"), command, args })),
  }),
  ".claude-plugin/plugin.json": plugin.extend({ mcpServers: servers }),
  ".claude-plugin/marketplace.json": z.strictObject({
    name: marketplaceName,
    description,
    owner: author,
    plugins: z.tuple([z.strictObject({ name, source: inside, description, category: z.string() })]),
  }),
  ".agents/plugins/marketplace.json": z.strictObject({
    name: marketplaceName,
    interface: z.strictObject({ displayName: z.string().min(1) }),
    plugins: z.tuple([
      z.strictObject({
        name,
        source: z.strictObject({ source: z.literal("local"), path: inside }),
        policy: z.strictObject({
          installation: z.enum(["NOT_AVAILABLE", "AVAILABLE", "INSTALLED_BY_DEFAULT"]),
          authentication: z.enum(["ON_INSTALL", "ON_USE"]),
        }),
        category: z.string().min(1),
      }),
    ]),
  }),
  ".cursor-plugin/plugin.json": plugin.extend({ displayName: z.string(), skills: inside, mcpServers: inside }),
  "gemini-extension.json": z.strictObject({
    name: name.regex(/^[a-z0-9-]+$/),
    version,
    description,
    mcpServers: servers,
  }),
  "server.json": z.strictObject({
    $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
    name: z
      .string()
      .min(3)
      .max(200)
      .regex(/^[\w.-]+\/[\w.-]+$/),
    title: z.string().min(1).max(100),
    description,
    version,
    websiteUrl: url,
    repository: z.strictObject({ url, source: z.literal("github"), subfolder: z.string() }),
    packages: z.tuple([
      z.strictObject({
        registryType: z.literal("npm"),
        registryBaseUrl: z.literal("https://registry.npmjs.org"),
        identifier: z.string().min(1),
        version,
        runtimeHint: z.literal("npx"),
        transport: z.strictObject({ type: z.literal("stdio") }),
        environmentVariables: z.array(variable),
      }),
    ]),
  }),
  "manifest.json": z.strictObject({
    manifest_version: z.literal("0.4"),
    name,
    display_name: z.string().min(1),
    version,
    description,
    long_description: z.string().min(1),
    author,
    repository: z.strictObject({ type: z.literal("git"), url }),
    homepage: url,
    documentation: url,
    support: url,
    server: z.strictObject({
      type: z.literal("node"),
      entry_point: z.string(),
      mcp_config: z.strictObject({ command: z.literal("node"), args: texts, env: environment }),
    }),
    tools: z.array(z.strictObject({ name: z.string(), description: z.string() })),
    keywords: texts,
    license: z.string(),
    compatibility: z.strictObject({
      platforms: z.array(z.enum(["darwin", "linux", "win32"])),
      runtimes: z.strictObject({ node: z.string() }),
    }),
    user_config: z.record(z.string(), setting),
  }),
};
