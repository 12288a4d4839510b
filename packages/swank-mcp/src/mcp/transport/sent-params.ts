import { isId } from "./message.js";

export type Fields = Readonly<Record<string, unknown>>;

/** The parameters of a message, or the problem with them. */
export type SentParams = { readonly params: Fields | undefined } | { readonly problem: string };

/** The key of the arguments of a call, which the tools read. */
const ARGUMENTS = "arguments";

/** The last part of the keys under which clients name what they can do: at `initialize`, or in every request's `_meta`. */
const CAPABILITIES = /(?:^|\/)(?:capabilities|clientCapabilities)$/;

/**
 * Reads the parameters of a request or notification as hosts send them: `null` for what is left out, `[]` for an empty object, all parameters as
 * a JSON text, a capability as `true` or `false`. The arguments of a call stay as they are.
 */
export function readParams(given: unknown): SentParams {
  const params = objectIn(given);
  if (params === undefined) return { params };
  if (!isFields(params)) return { problem: '"params" must be an object' };
  const { _meta: sentMeta, ...rest } = params;
  const meta = objectIn(sentMeta);
  if (meta !== undefined && !isFields(meta)) return { problem: '"_meta" must be an object' };
  const token = meta?.["progressToken"] ?? undefined;
  if (token !== undefined && !isId(token)) return { problem: '"progressToken" must be a string or a whole number' };
  return { params: withoutNulls(meta === undefined ? rest : { ...rest, _meta: meta }) };
}

/** Levels of objects in which `null` is looked for. */
const DEPTH = 8;

/** The object without what is `null`, in it and in the objects in it. */
export function withoutNulls(fields: Fields, depth = DEPTH): Fields {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (key === ARGUMENTS) kept.push([key, value]);
    else if (CAPABILITIES.test(key)) kept.push([key, readCapabilities(value)]);
    else if (value !== null) kept.push([key, isFields(value) && depth > 0 ? withoutNulls(value, depth - 1) : value]);
  }
  return Object.fromEntries(kept);
}

function readCapabilities(given: unknown): unknown {
  const capabilities = given === null || isEmptyList(given) ? {} : given;
  if (!isFields(capabilities)) return capabilities;
  const kept = Object.entries(capabilities).filter(([, value]) => value !== null && value !== false);
  return Object.fromEntries(kept.map(([key, value]) => [key, readCapability(value)]));
}

function readCapability(value: unknown): unknown {
  if (value === true || isEmptyList(value)) return {};
  return isFields(value) ? withoutNulls(value) : value;
}

/** The object that was sent, whole or as a JSON text; `undefined` if there is none; anything else unchanged. */
function objectIn(given: unknown): unknown {
  if (given === null || given === undefined || given === "" || isEmptyList(given)) return undefined;
  if (typeof given !== "string") return given;
  try {
    const value: unknown = JSON.parse(given);
    return value === null ? undefined : value;
  } catch {
    return given;
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
