import type { z } from "zod";
import { Refusal } from "../refusals/refusal.js";
import { more } from "../text/cut.js";
import { nearest } from "../text/nearest.js";
import { shown } from "../text/shown.js";
import { type ObjectSchema, type PropertySchema, typesOf } from "./argument-schema.js";
import type { Tool } from "./tool.js";

/** Problems that one refusal names. */
const MAX_PROBLEMS = 5;

/** The refusal of wrong arguments: for each, the key, the expected value and the given value. */
export function argumentsRefusal(tool: Tool, args: unknown, issues: readonly z.core.$ZodIssue[]): Refusal {
  const schema = tool.accepted;
  const problems = issues.flatMap((issue) => problemsOf(issue, args, schema));
  const named = new Set(problems.slice(0, MAX_PROBLEMS).map((describe) => describe()));
  const rest = problems.length > MAX_PROBLEMS ? [more(problems.length - MAX_PROBLEMS, "problem")] : [];
  return new Refusal("INVALID_ARGUMENTS", `${tool.name}: ${[...named, ...rest].join(" ")}`, {
    remedy: `Correct this and call again. ${signature(tool.name, schema)}`,
  });
}

/** The problems as functions, so that only the shown ones are described: a call can have any number of wrong keys. */
function problemsOf(issue: z.core.$ZodIssue, args: unknown, schema: ObjectSchema): (() => string)[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => () => unknownKey(key, schema));
  return [() => describeIssue(issue, args, schema)];
}

function describeIssue(issue: z.core.$ZodIssue, args: unknown, schema: ObjectSchema): string {
  const key = String(issue.path[0] ?? "");
  const property = schema.properties[key];
  if (property === undefined) return `The arguments must be an object, not ${shown(args)}.`;
  const value = valueAt(args, key);
  if (value === undefined) return `The argument "${key}" is missing: it must be ${expected(property)}.`;
  return `The argument "${key}" must be ${expected(property)}, not ${shown(value)}.`;
}

function unknownKey(key: string, schema: ObjectSchema): string {
  const meant = nearest(key, Object.keys(schema.properties));
  return `There is no argument ${shown(key)}${meant === undefined ? "." : `: did you mean "${meant}"?`}`;
}

function signature(name: string, schema: ObjectSchema): string {
  const required = new Set(schema.required);
  const keys = Object.keys(schema.properties).map((key) => (required.has(key) ? `${key} (required)` : key));
  return keys.length === 0 ? `${name} takes no arguments.` : `${name} takes: ${keys.join(", ")}.`;
}

const TYPE_WORDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
};

function expected(property: PropertySchema): string {
  if (property.enum !== undefined) return `one of ${property.enum.map((choice) => `"${choice}"`).join(", ")}`;
  const types = typesOf(property).map((type) => (type === "array" ? listWords(property) : TYPE_WORDS[type]));
  const unit = property.description?.startsWith("Seconds") ? ["of seconds"] : [];
  return [types.map((words) => words ?? "something else").join(" or "), ...unit, ...bounds(property)].join(" ");
}

function listWords({ items }: PropertySchema): string {
  return items?.type === "integer" ? "a list of whole numbers" : "a list of strings";
}

function bounds({ minimum, exclusiveMinimum, maximum, minLength }: PropertySchema): string[] {
  if (minLength !== undefined) return ["that is not empty"];
  const limits = [
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(minimum === undefined ? [] : [`of at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  return limits.length === 0 ? [] : [limits.join(" and ")];
}

function valueAt(args: unknown, key: string): unknown {
  return typeof args === "object" && args !== null
    ? Object.entries(args).find(([name]) => name === key)?.[1]
    : undefined;
}
