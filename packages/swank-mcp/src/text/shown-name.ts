/** Longest name that a message repeats whole, in characters. */
const MAX_NAME = 200;

/** A name from the caller, as a message repeats it: on one line, and cut if it is long. */
export function shownName(name: string): string {
  if (name === "") return "||";
  const characters = [...name.replace(/\p{Cc}/gu, escaped)];
  if (characters.length <= MAX_NAME) return characters.join("");
  return `${characters.slice(0, MAX_NAME).join("")}... [${[...name].length} characters]`;
}

function escaped(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
