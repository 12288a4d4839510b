import { outlineCode } from "swank-client";
import { bareCode } from "swank-client/internal";
import * as z from "zod";
import { isJsonObject, type JsonObject } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { groupedBy, more, nearest, shown } from "../text/cut.js";

/** A property in JSON Schema, as {@link z.toJSONSchema} writes the types that tools use. */
const propertySchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(z.looseObject({ type: z.string(), minLength: z.number().optional() })).optional(),
  items: z.looseObject({ type: z.string() }).optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
});

const objectSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), propertySchema),
  required: z.array(z.string()).optional(),
});

type PropertySchema = z.output<typeof propertySchema>;

export type ObjectSchema = z.output<typeof objectSchema>;

/** Omits `$schema`, which every tool would repeat: MCP's default dialect has all keywords used here. */
export function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", override: dropSafetyBounds });
  return objectSchema.parse(rest);
}

function typesOf({ type, anyOf }: PropertySchema): readonly string[] {
  return anyOf?.map((choice) => choice.type) ?? [type ?? []].flat();
}

/**
 * The schema as clients get it. Some hosts drop every tool of a server when one schema has a list of types or alternatives: so each property
 * has one type, which is `string` if it takes others, too. No tool may have an exclusive bound, for the same reason.
 */
export function plainSchema(schema: ObjectSchema): ObjectSchema {
  const properties = Object.entries(schema.properties).map(([key, property]) => [key, plainProperty(property)]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function plainProperty(property: PropertySchema): PropertySchema {
  const { type, anyOf, ...rest } = property;
  const [only = "string", ...others] = typesOf(property);
  return { type: others.length === 0 ? only : "string", ...rest };
}

/** Removes the bounds of JavaScript's exact integers, which zod adds to every integer. */
function dropSafetyBounds({ jsonSchema: schema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

const CODE_ARGUMENTS: readonly string[] = ["code", "condition", "log", "object", "against", "values"];

/** A prompt, as Lisps print it with the package's name. */
const PROMPT = /^(?:[A-Z0-9][A-Z0-9.+/-]*|\[\d+\])>$/;

/** A backslash and an n after a form, or between two. After an opening parenthesis, it may be a symbol. */
const ESCAPED_BREAK = /(?<=[\s)]|^)\\n(?=[\s()\\]|$)/;

/** Returns the arguments of a tool with the code in them as it was meant, without what a chat writes around it. @throws Refusal */
export function plainArguments(args: unknown): unknown {
  if (!isJsonObject(args)) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      CODE_ARGUMENTS.includes(name) ? plainArgument(value, name) : value,
    ]),
  );
}

function plainArgument(value: unknown, name: string): unknown {
  if (typeof value === "string") return plainCode(value, name);
  return Array.isArray(value) ? value.map((item: unknown) => plainArgument(item, name)) : value;
}

/**
 * Code without a byte order mark, quotation marks (`> `) or a prompt around all of it. Odd characters are found in the image, whose readtable decides
 * what they mean.
 *
 * @throws Refusal `DAMAGED_CODE` if Lisp would read a mark of Markdown or a prompt as code, and run the forms around it; or if the code was escaped twice
 */
export function plainCode(code: string, name = "code"): string {
  const text = code.startsWith("\uFEFF") ? code.slice(1) : code;
  if (!/[`~>]|\\n/.test(text)) return text;
  const plain = unprompted(unquoted(text));
  const mark = strayMark(plain);
  if (mark !== undefined)
    throw new Refusal("DAMAGED_CODE", `The argument "${name}" holds ${mark}, which is no Lisp. Nothing was run.`, {
      remedy: "Send the code alone, without Markdown, prompts or results.",
    });
  // Code that was escaped twice has no line break of its own.
  const escaped = plain.includes("\n") || !plain.includes("\\n") ? null : ESCAPED_BREAK.exec(bareCode(plain, true));
  if (escaped === null) return plain;
  const place = `at column ${escaped.index + 1}`;
  throw new Refusal("DAMAGED_CODE", `The code has \\n in place of a line break ${place}. Nothing was run.`, {
    remedy: "It was escaped twice: send line breaks themselves.",
  });
}

function unquoted(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0 || !lines.every((line) => /^ {0,3}>(?: |$)/.test(line))) return text;
  const code = text.replaceAll(/^ {0,3}> ?/gm, "");
  return code.trim() === "" ? text : code;
}

/** Without a prompt before the only form. */
function unprompted(text: string): string {
  const { state, forms } = outlineCode(text);
  const [first, second] = forms;
  if (state !== "complete" || forms.length !== 2 || first === undefined || second === undefined) return text;
  return PROMPT.test(text.slice(first.offset, first.end)) ? text.slice(first.end) : text;
}

/** The mark of Markdown or of a prompt that stands between the forms of code, in words. */
function strayMark(text: string): string | undefined {
  const { forms } = outlineCode(text);
  for (const { offset, end } of forms) {
    const form = text.slice(offset, end);
    if (/^(?:```|~~~)/.test(form)) return "a Markdown fence";
    if (form === ">" && forms.length > 1) return "a quotation mark of Markdown (>)";
    if (PROMPT.test(form) && forms.length > 1) return `a prompt (${form})`;
  }
  const rest = text.slice(forms.at(-1)?.end ?? 0);
  return /^\s*(?:```|~~~)/.test(rest) ? "a Markdown fence" : undefined;
}

/** Levels of JSON texts and wrapping objects around the arguments that are removed. */
const MAX_WRAPPERS = 4;

/** Keys, without case and punctuation, under which some hosts wrap all arguments once more. */
const WRAPPERS: ReadonlySet<string> = new Set(["arguments", "args", "params", "parameters", "input"]);

/** Keys, without case and punctuation, that can stand beside a wrapped object: those of a call and of its request. */
const BESIDE: ReadonlySet<string> = new Set(["name", "tool", "toolname", "method", "jsonrpc", "id", "type", "meta"]);

/** Texts that hosts send for an optional value which is not a text and is left out. */
const NO_VALUE = /^\s*(?:null|none|undefined)?\s*$/i;

/** Arguments without which a tool acts on everything. An empty text for these can be a mistake. */
const NARROWING: ReadonlySet<string> = new Set(["name", "file", "system", "folder"]);

const NUMBER = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/** The name that the argument `mode` of a tool once had. It is still accepted. */
const FORMER_MODES: Readonly<Record<string, string>> = {
  "find-references": "kind",
  heap: "what",
  "interrupt-thread": "action",
};

/**
 * Reads the arguments of a call as hosts send them: as a JSON text or wrapped once more, with keys spelt differently or with a former name, with
 * numbers, booleans and lists as texts, and with `null` or an empty text for what is left out. What has more than one reading is returned
 * unchanged, for the schema to refuse. A value of a type that the schema allows, such as any text given as code, is never changed.
 *
 * @param name - The tool's name.
 * @throws Refusal if an argument has one value under its name and another under its former name
 */
export function readArguments(given: unknown, name: string, schema: ObjectSchema): unknown {
  const sent = unwrapped(given, name, schema);
  if (!isJsonObject(sent)) return sent;
  const fields = withMode(sent, name);
  const read: [string, unknown][] = [];
  const names = groupedBy(Object.keys(schema.properties), plain);
  const spellings = groupedBy(Object.keys(fields), plain);
  for (const [spelling, value] of Object.entries(fields)) {
    const key = keyOf(spelling, names, spellings, schema);
    const property = key === undefined ? undefined : propertyOf(schema, key);
    if (key === undefined || property === undefined) {
      // A key that says nothing needs no place.
      if (value !== null && value !== undefined && spelling !== "_meta") read.push([spelling, value]);
      continue;
    }
    const isOptional = schema.required?.includes(key) !== true;
    if (!(isOptional && isLeftOut(key, value, property))) read.push([key, asTyped(value, property)]);
  }
  return Object.fromEntries(read);
}

/** The arguments with the mode under its present name. */
function withMode(fields: JsonObject, tool: string): JsonObject {
  const key = Object.keys(fields).find((spelling) => plain(spelling) === FORMER_MODES[tool]);
  if (key === undefined) return fields;
  const { [key]: value, mode: given, ...others } = fields;
  const mode = given ?? value;
  if (plain(String(value ?? mode)) !== plain(String(mode)))
    throw new Refusal("INVALID_ARGUMENTS", `${tool}: "mode" and "${key}" are one argument, but have two values.`, {
      remedy: 'Pass "mode" only.',
    });
  return { ...others, mode };
}

/** The object with the arguments; the same value if there is none. */
function unwrapped(given: unknown, name: string, schema: ObjectSchema): unknown {
  let value = given;
  for (let level = 0; level < MAX_WRAPPERS; level += 1) {
    const inner = insideOf(value, name, schema);
    if (inner === value) break;
    value = inner;
  }
  return isJsonObject(value) ? value : given;
}

function insideOf(value: unknown, name: string, schema: ObjectSchema): unknown {
  if (value === null || value === undefined) return {};
  if (typeof value === "string") return value.trim() === "" ? {} : parsed(value);
  // PHP writes an empty object as an empty array.
  if (Array.isArray(value))
    return value.length === 0 ? {} : value.length === 1 && isJsonObject(value[0]) ? value[0] : value;
  return isJsonObject(value) ? (wrappedIn(value, name, schema) ?? value) : value;
}

/** The object that all other arguments are wrapped in, if nothing else can be meant. */
function wrappedIn(fields: JsonObject, name: string, schema: ObjectSchema): unknown {
  const entries = Object.entries(fields);
  const wrapping = entries.filter(([key]) => WRAPPERS.has(plain(key)));
  const [wrapper] = wrapping;
  if (wrapper === undefined || wrapping.length > 1) return undefined;
  const [wrapperKey, content] = wrapper;
  const inner = typeof content === "string" ? parsed(content) : content;
  // A tool's own argument of this name is never an object.
  if (!isJsonObject(inner)) return undefined;
  const isBeside = ([key, value]: readonly [string, unknown]) =>
    key === wrapperKey ||
    (BESIDE.has(plain(key)) && (propertyOf(schema, key) === undefined || plain(String(value)) === plain(name)));
  return entries.every(isBeside) ? inner : undefined;
}

/** The name of the argument that a key means: the key, or the only name that differs from it in case and punctuation. */
function keyOf(key: string, names: Spellings, spellings: Spellings, schema: ObjectSchema): string | undefined {
  if (propertyOf(schema, key) !== undefined) return key;
  const meant = names.get(plain(key)) ?? [];
  return meant.length === 1 && spellings.get(plain(key))?.length === 1 ? meant[0] : undefined;
}

type Spellings = ReadonlyMap<string, readonly string[]>;

/** Whether the value of an optional argument says that the argument is left out. */
function isLeftOut(key: string, value: unknown, property: PropertySchema): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "string" || property.enum?.includes(value) === true) return false;
  if (property.enum === undefined && typesOf(property).includes("string"))
    return value === "" && cannotBeEmpty(property) && !NARROWING.has(key);
  // In a list of strings, "null" can be a name.
  return takesTexts(property) ? value.trim() === "" : NO_VALUE.test(value);
}

function takesTexts(property: PropertySchema): boolean {
  return typesOf(property).includes("array") && itemType(property) === "string";
}

function cannotBeEmpty({ minLength = 0, anyOf = [] }: PropertySchema): boolean {
  return minLength > 0 || anyOf.some((choice) => (choice.minLength ?? 0) > 0);
}

/** The value as the argument's type; the same value if it has that type or cannot be read as it. */
function asTyped(value: unknown, property: PropertySchema): unknown {
  if (property.enum !== undefined) return choiceOf(value, property.enum);
  for (const type of typesOf(property)) {
    if (type === "boolean") {
      const truth = truthOf(value);
      if (truth !== undefined) return truth;
    }
    if (hasType(value, type)) return type === "array" && Array.isArray(value) ? itemsOf(value, property) : value;
  }
  if (typeof value !== "string") return typesOf(property).includes("array") ? listOf(value, property) : value;
  for (const type of typesOf(property)) {
    if ((type === "number" || type === "integer") && NUMBER.test(value) && Number.isFinite(Number(value)))
      return Number(value);
    if (type === "array") return listOf(value, property);
  }
  return value;
}

/** The list that a text holds as JSON, or a list of the value alone. */
function listOf(value: unknown, property: PropertySchema): unknown {
  const list = typeof value === "string" && value.trim().startsWith("[") ? parsed(value) : undefined;
  if (Array.isArray(list)) return itemsOf(list, property);
  const [item] = itemsOf([value], property);
  const isNone = typeof value === "string" && NO_VALUE.test(value);
  return !isNone && hasType(item, itemType(property)) ? [item] : value;
}

function itemsOf(items: readonly unknown[], property: PropertySchema): readonly unknown[] {
  const type = itemType(property);
  // Lisp reads a whole number with a point as decimal, whatever its *READ-BASE* is. For `true` and `null`, it has other words, and names.
  if (type === "string") return items.map((item) => (Number.isSafeInteger(item) ? `${item}.` : item));
  return items.map((item) => asTyped(item, { type }));
}

function itemType({ items }: PropertySchema): string {
  return items?.type ?? "string";
}

function choiceOf(value: unknown, choices: readonly string[]): unknown {
  if (typeof value !== "string" || choices.includes(value)) return value;
  const meant = choices.filter((choice) => plain(choice) === plain(value));
  return meant.length === 1 ? meant[0] : value;
}

function truthOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = String(value).trim().toLowerCase();
  if (typeof value === "object" || !/^(?:true|false|1|0)$/.test(text)) return undefined;
  return text === "true" || text === "1";
}

function hasType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** The value of a JSON text; the text itself if it is none. */
function parsed(text: string): unknown {
  try {
    // JSON's own white space excludes the byte order mark that some hosts put first.
    return JSON.parse(text.trim());
  } catch {
    return text;
  }
}

/** A key or choice without case and punctuation. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function propertyOf({ properties }: ObjectSchema, key: string): PropertySchema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

const MAX_PROBLEMS = 5;

/** The refusal of wrong arguments: for each, the key, the expected value and the given value. */
export function argumentsRefusal(
  name: string,
  schema: ObjectSchema,
  args: unknown,
  issues: readonly z.core.$ZodIssue[],
): Refusal {
  // Functions, so that only the shown problems are described: a call can have any number of wrong keys.
  const problems = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => () => unknownKey(key, schema))
      : [() => describeIssue(issue, args, schema)],
  );
  const named = new Set(problems.slice(0, MAX_PROBLEMS).map((describe) => describe()));
  const rest = problems.length > MAX_PROBLEMS ? [more(problems.length - MAX_PROBLEMS, "problem")] : [];
  return new Refusal("INVALID_ARGUMENTS", `${name}: ${[...named, ...rest].join(" ")}`, {
    remedy: `Correct this and call again. ${signature(name, schema)}`,
  });
}

function describeIssue(issue: z.core.$ZodIssue, args: unknown, schema: ObjectSchema): string {
  const key = String(issue.path[0] ?? "");
  const property = propertyOf(schema, key);
  if (property === undefined) return `The arguments must be an object, not ${shown(args)}.`;
  const value = isJsonObject(args) && Object.hasOwn(args, key) ? args[key] : undefined;
  if (value === undefined) return `The argument "${key}" is missing: it must be ${expected(property)}.`;
  const truths =
    itemType(property) === "string" && Array.isArray(value) && value.some((item) => typeof item === "boolean");
  return `The argument "${key}" must be ${expected(property)}, not ${shown(value)}.${truths ? ' For true and false of Lisp, write "t" and "nil".' : ""}`;
}

function unknownKey(key: string, schema: ObjectSchema): string {
  const meant = nearest(key, Object.keys(schema.properties));
  return `There is no argument ${shown(key)}${meant === undefined ? "." : `: did you mean "${meant}"?`}`;
}

function signature(name: string, { properties, required = [] }: ObjectSchema): string {
  const keys = Object.keys(properties).map((key) => (required.includes(key) ? `${key} (required)` : key));
  return keys.length === 0 ? `${name} takes no arguments.` : `${name} takes: ${keys.join(", ")}.`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
};

function expected(property: PropertySchema): string {
  if (property.enum !== undefined) return `one of ${property.enum.map((choice) => `"${choice}"`).join(", ")}`;
  const list = itemType(property) === "integer" ? "a list of whole numbers" : "a list of strings";
  const types = typesOf(property).map((type) => (type === "array" ? list : TYPE_WORDS[type]));
  const unit = property.description?.startsWith("Seconds") ? ["of seconds"] : [];
  return [types.map((words) => words ?? "something else").join(" or "), ...unit, ...bounds(property)].join(" ");
}

function bounds({ minimum, maximum, minLength }: PropertySchema): string[] {
  if (minLength !== undefined) return ["that is not empty"];
  const least = minimum === undefined ? [] : [`of at least ${minimum}`];
  const limits = [...least, ...(maximum === undefined ? [] : [`at most ${maximum}`])];
  return limits.length === 0 ? [] : [limits.join(" and ")];
}
