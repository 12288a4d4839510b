import { isDeepStrictEqual } from "node:util";
import { applyEdits, type FormattingOptions, modify, type ParseError, parse } from "jsonc-parser";
import { parse as parseToml, stringify } from "smol-toml";
import { type ClientHost, plain, type ServerEntry } from "../base/client-setup.js";

/** The name of the entry. */
const NAME = "swank";

/** The configuration with the entry, or why it is left alone: words that follow its path. */
export type Edited = { readonly text: string } | { readonly problem: string };

/** The entry alone, as the client's configuration has it. */
export function entryText(host: ClientHost, entry: ServerEntry): string {
  if (host.key === "mcp_servers") return stringify({ [host.key]: { [NAME]: { ...plain(entry) } } });
  return `${JSON.stringify({ [host.key]: { [NAME]: fieldsOf(host, entry) } }, undefined, 2)}\n`;
}

/** Adds the entry to a configuration, or changes the one that is there. All else stays, with its comments. */
export function withEntry(host: ClientHost, entry: ServerEntry, before: string): Edited {
  return host.key === "mcp_servers" ? withTomlEntry(host, entry, before) : withJsonEntry(host, entry, before);
}

function fieldsOf({ isTyped }: ClientHost, entry: ServerEntry): Readonly<Record<string, unknown>> {
  return { ...(isTyped ? { type: "stdio" } : {}), ...plain(entry) };
}

function withJsonEntry(host: ClientHost, entry: ServerEntry, before: string): Edited {
  const mark = before.startsWith("\uFEFF") ? "\uFEFF" : "";
  let text = before.slice(mark.length);
  const errors: ParseError[] = [];
  const options = { allowTrailingComma: true, allowEmptyContent: true };
  const value: unknown = parse(text, errors, options);
  if (errors.length > 0) return { problem: "is not JSON" };
  if (value !== undefined && !isTable(value)) return { problem: "holds no JSON object" };
  const servers = tableIn(value, host.key);
  if (servers === undefined) return { problem: `has a ${host.key} that is no object` };
  const known = tableIn(servers, NAME);
  if (known === undefined) return { problem: `has an entry ${NAME} that is no object` };
  if (isRemote(known)) return { problem: `has an entry ${NAME} for a server with an address` };
  const formattingOptions = formatOf(text);
  const set = (path: readonly string[], to: unknown) => {
    text = applyEdits(text, modify(text, [...path], to, { formattingOptions, getInsertionIndex: () => 0 }));
  };
  const fields = fieldsOf(host, entry);
  const kept = Object.entries(known).filter(([name]) => name !== "args");
  const wanted: Readonly<Record<string, unknown>> = { ...Object.fromEntries(kept), ...fields };
  // An entry that is there may have more: its environment, or what its user allows.
  if (!hasKey(servers, NAME)) set([host.key, NAME], fields);
  else
    for (const field of ["type", "command", "args"])
      if (JSON.stringify(wanted[field]) !== JSON.stringify(known[field])) set([host.key, NAME, field], wanted[field]);
  // An edit changes the first of two equal names, and readers take the last.
  const expected = { ...value, [host.key]: { ...servers, [NAME]: wanted } };
  if (!isDeepStrictEqual(parse(text, [], options), expected)) return { problem: "has a name twice" };
  return { text: mark + (text.endsWith("\n") ? text : `${text}\n`) };
}

/** Whether an entry is that of a server which the client does not start. The command of one that it starts cannot be added to it. */
function isRemote(known: Readonly<Record<string, unknown>>): boolean {
  const type = known["type"] ?? "stdio";
  return type !== "stdio" || ["url", "httpUrl", "serverUrl"].some((name) => hasKey(known, name));
}

/** The indentation of a text, so that what is added looks like the rest. */
function formatOf(text: string): FormattingOptions {
  const [, indentation = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  return {
    insertSpaces: !indentation.startsWith("\t"),
    tabSize: indentation.startsWith("\t") ? 4 : indentation.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function withTomlEntry(host: ClientHost, entry: ServerEntry, before: string): Edited {
  const value = tomlValue(before);
  if (value === undefined) return { problem: "is not TOML" };
  const servers = tableIn(value, host.key);
  const known = servers && tableIn(servers, NAME);
  if (servers === undefined || known === undefined) return { problem: `has a ${host.key} of another kind` };
  const wanted = { ...plain(entry) };
  if (hasKey(servers, NAME)) {
    const isSame =
      known["command"] === entry.command && JSON.stringify(known["args"] ?? []) === JSON.stringify(entry.args);
    return isSame ? { text: before } : { problem: `has another entry ${NAME}` };
  }
  // A table can follow whatever is there, unless that is written in one line.
  const gap = before === "" || /\n\r?\n$/.test(before) ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const added = `${gap}${stringify({ [host.key]: { [NAME]: wanted } }).trimStart()}`;
  const text = before + (before.includes("\r\n") ? added.replaceAll("\n", "\r\n") : added);
  return tomlValue(text) === undefined ? { problem: `has its ${host.key} in one line` } : { text };
}

function tomlValue(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseToml(text, { integersAsBigInt: "asNeeded" });
  } catch {
    return undefined;
  }
}

/** The table at a key; an empty one if the key is missing, and `undefined` if it holds something else. */
function tableIn(value: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
  const found = isTable(value) && Object.hasOwn(value, key) ? value[key] : {};
  return isTable(found) ? found : undefined;
}

function hasKey(value: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(value, key);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
