import { type ObjectSchema, type PropertySchema, typesOf } from "./argument-schema.js";

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

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the arguments of a call as hosts send them: as a JSON text or wrapped once more, with keys spelt differently, with numbers, booleans and
 * lists as texts, and with `null` or an empty text for what is left out. What has more than one reading is returned unchanged, for the schema to
 * refuse. A value of a type that the schema allows, such as any text given as code, is never changed.
 *
 * @param name - The tool's name.
 */
export function readArguments(given: unknown, name: string, schema: ObjectSchema): unknown {
  const fields = unwrapped(given, name, schema);
  if (!isFields(fields)) return fields;
  const read: [string, unknown][] = [];
  const names = counted(Object.keys(schema.properties));
  const spellings = counted(Object.keys(fields));
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

/** The object with the arguments; the same value if there is none. */
function unwrapped(given: unknown, name: string, schema: ObjectSchema): unknown {
  let value = given;
  for (let level = 0; level < MAX_WRAPPERS; level += 1) {
    const inner = insideOf(value, name, schema);
    if (inner === value) break;
    value = inner;
  }
  return isFields(value) ? value : given;
}

function insideOf(value: unknown, name: string, schema: ObjectSchema): unknown {
  if (value === null || value === undefined) return {};
  if (typeof value === "string") return value.trim() === "" ? {} : parsed(value);
  // PHP writes an empty object as an empty array.
  if (Array.isArray(value))
    return value.length === 0 ? {} : value.length === 1 && isFields(value[0]) ? value[0] : value;
  return isFields(value) ? (wrappedIn(value, name, schema) ?? value) : value;
}

/** The object that all other arguments are wrapped in, if nothing else can be meant. */
function wrappedIn(fields: Fields, name: string, schema: ObjectSchema): unknown {
  const entries = Object.entries(fields);
  const wrapping = entries.filter(([key]) => WRAPPERS.has(plain(key)));
  const [wrapper] = wrapping;
  if (wrapper === undefined || wrapping.length > 1) return undefined;
  const [wrapperKey, content] = wrapper;
  const inner = typeof content === "string" ? parsed(content) : content;
  // A tool's own argument of this name is never an object.
  if (!isFields(inner)) return undefined;
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

/** Keys by their plain form. */
type Spellings = ReadonlyMap<string, readonly string[]>;

function counted(keys: readonly string[]): Spellings {
  const found = new Map<string, string[]>();
  for (const key of keys) {
    const same = found.get(plain(key));
    if (same === undefined) found.set(plain(key), [key]);
    else same.push(key);
  }
  return found;
}

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
  return type === "string" ? items : items.map((item) => asTyped(item, { type }));
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

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
