/** The parts of a tool that hosts check, as `tools/list` has them. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
}

/** A rule of hosts for tools. Who breaks it loses the tool, or all tools of the server. */
export interface HostRule {
  readonly host: string;
  /** Where it is known from. */
  readonly source: string;
  /** The breaches of the rule, in words. */
  breaches(tool: ListedTool): readonly string[];
}

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemaOf(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

function propertiesOf(schema: unknown): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries(schemaOf(schemaOf(schema)["properties"])).map(([name, inner]) => [name, schemaOf(inner)]);
}

/** A schema with all that are in it, each with its place. */
function everySchema(schema: unknown, place = "the schema"): readonly (readonly [place: string, schema: Schema])[] {
  const own = schemaOf(schema);
  const inside = propertiesOf(schema).flatMap(([name, inner]) => everySchema(inner, name));
  const items = own["items"] === undefined ? [] : everySchema(own["items"], `the items of ${place}`);
  return [[place, own], ...inside, ...items];
}

function inInput(find: (schema: Schema) => string | undefined) {
  return ({ inputSchema }: ListedTool) =>
    everySchema(inputSchema).flatMap(([place, schema]) => {
      const found = find(schema);
      return found === undefined ? [] : [`${place} ${found}`];
    });
}

function keywordRule(keywords: readonly string[]) {
  return inInput((schema) => {
    const found = keywords.find((keyword) => Object.hasOwn(schema, keyword));
    return found === undefined ? undefined : `has ${found}`;
  });
}

/** The prefixes that hosts put before a tool's name: Claude Code, Codex and VS Code, in this order. */
const PREFIXES = ["mcp__swank__", "swank__", "mcp_swank_"];

export const HOST_RULES: readonly HostRule[] = [
  {
    host: "Anthropic's API: Claude Code, Kiro, opencode",
    source: "https://github.com/anthropics/claude-code/issues/657, .../issues/95504",
    breaches: ({ inputSchema }) =>
      ["oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "enum"]
        .filter((keyword) => Object.hasOwn(inputSchema, keyword))
        .map((keyword) => `the schema has ${keyword} at its top`),
  },
  {
    host: "Anthropic's API",
    source: "https://github.com/anthropics/claude-code/issues/92648",
    breaches: ({ inputSchema }) =>
      propertiesOf(inputSchema).flatMap(([name]) => (/^[a-zA-Z0-9_.-]{1,64}$/.test(name) ? [] : [`${name} is no key`])),
  },
  {
    host: "Anthropic's and Gemini's API",
    source: "https://github.com/wonderwhy-er/DesktopCommanderMCP/issues/79",
    breaches: ({ name }) =>
      PREFIXES.map((prefix) => prefix + name).flatMap((full) =>
        /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(full) ? [] : [`${full} is no name`],
      ),
  },
  {
    host: "Codex: its sanitizer keeps these types only, and integer as number",
    source: "https://github.com/openai/codex/pull/1975, .../issues/2204",
    breaches: inInput(({ type }) =>
      ["string", "number", "integer", "boolean", "array", "object"].some((known) => known === type)
        ? undefined
        : `has type ${JSON.stringify(type)}`,
    ),
  },
  {
    host: "Gemini CLI: skips tools with alternatives or without types",
    source: "https://github.com/loonghao/wecom-bot-mcp-server/pull/100, .../DzAvril/MoviePilot-Plugins/issues/23",
    breaches: keywordRule(["anyOf", "oneOf", "allOf", "not", "const", "$ref", "$defs"]),
  },
  {
    host: "Gemini's API",
    source: "https://github.com/google-gemini/gemini-cli/issues/4920",
    breaches: keywordRule(["exclusiveMinimum", "exclusiveMaximum"]),
  },
  {
    host: "Gemini's API: choices are texts that are not empty",
    source: "https://ai.google.dev/api/caching#Schema",
    breaches: inInput(({ enum: choices, type }) =>
      choices === undefined ||
      (type === "string" && Array.isArray(choices) && choices.every((each) => typeof each === "string" && each !== ""))
        ? undefined
        : "has choices of another kind",
    ),
  },
  {
    host: "VS Code with Copilot, and OpenAI's API",
    source: "https://github.com/microsoft/vscode/issues/246119",
    breaches: inInput(({ type, items }) =>
      type === "array" && Object.keys(schemaOf(items)).length === 0 ? "is an array without items" : undefined,
    ),
  },
  {
    host: "strict backends such as llama.cpp",
    source: "https://github.com/Kilo-Org/kilocode/pull/6755",
    breaches: keywordRule(["pattern", "format", "patternProperties", "propertyNames", "contentEncoding"]),
  },
  {
    host: "strict validators: sizes are whole numbers",
    source: "https://github.com/leookun/cursor-byok/pull/420",
    breaches: inInput((schema) =>
      ["minLength", "maxLength", "minItems", "maxItems"].find(
        (keyword) => Object.hasOwn(schema, keyword) && !Number.isSafeInteger(schema[keyword]),
      ),
    ),
  },
  {
    host: "validators in strict mode: what is required is there, and defaults have their type",
    source: "https://ajv.js.org/strict-mode.html",
    breaches: ({ inputSchema }) => {
      const names = new Set(propertiesOf(inputSchema).map(([name]) => name));
      const required: unknown = schemaOf(inputSchema)["required"] ?? [];
      const unknown = Array.isArray(required) ? required.filter((name) => !names.has(name)) : ["required is no list"];
      const defaults = propertiesOf(inputSchema).filter(
        ([, { default: value, type }]) =>
          value !== undefined && typeName(value) !== (type === "integer" ? "number" : type),
      );
      return [...unknown.map(String), ...defaults.map(([name]) => `${name} has a default of another type`)];
    },
  },
  {
    host: "clients made with the SDK for TypeScript",
    source: "https://github.com/opentokenz/mcpx/issues/28",
    breaches: ({ inputSchema, outputSchema = { type: "object" } }) =>
      [inputSchema, outputSchema].flatMap((schema) => (schemaOf(schema)["type"] === "object" ? [] : ["is no object"])),
  },
];

function typeName(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}
