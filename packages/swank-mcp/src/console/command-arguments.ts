/** The word as a number if it is one. The tool refuses any other word. */
export function integer(word: string | undefined): number | string | undefined {
  return word !== undefined && /^-?\d+$/.test(word) ? Number(word) : word;
}

/** A name with the end of a file's name is a file. */
export function loadArguments(name: string): Readonly<Record<string, string>> {
  return /\.[a-z]+$/i.test(name) ? { file: name } : { system: name };
}

/** A number alone is a time to watch the program, and anything else code to run. */
export function watchedArguments(text: string): Readonly<Record<string, unknown>> {
  return /^\d+(?:\.\d+)?$/.test(text) ? { seconds: Number(text) } : { code: text };
}

/** `growth` may be followed by code, `path` by code for an object; a number is an id, and any other word a type. */
export function heapArguments(word: string | undefined, rest: string): Readonly<Record<string, unknown>> {
  if (word === undefined) return { what: "summary" };
  if (word === "growth") return { what: "growth", code: rest === "" ? undefined : rest };
  if (word === "path") return { what: "path", object: rest };
  return /^#?\d+$/.test(word) ? { what: "path", object: word } : { what: "instances", type: word };
}

/** A name that ends with a colon is that of a package. */
export function tracedArguments(name: string): Readonly<Record<string, unknown>> {
  return name.endsWith(":") && name.length > 1 ? { package: name.replace(/:+$/, "") } : { functions: [name] };
}
