/** Longest value or message shown whole, in UTF-16 units: a little more than what Lisp prints of one, so that its own marks are kept. */
const MAX_TEXT = 21_000;

/** A value or a message; the beginning, and how much was left out, of one that is longer than any that Lisp prints. */
export function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const end = wholeEnd(text, MAX_TEXT);
  return `${text.slice(0, end)} [... ${text.length - end} characters left out ...]`;
}

/** Text on one line, at most `max` units, ended by `...` when something was left out. */
export function oneLine(text: string, max: number): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= max ? line : `${line.slice(0, wholeEnd(line, max - 3))}...`;
}

/** A call as a backtrace shows it: a long argument list ends in `...`, and in the call's parenthesis. */
export function cutCall(call: string, max: number): string {
  if (call.length <= max) return call;
  const closing = call.startsWith("(") ? " ...)" : "...";
  const kept = call.slice(0, wholeEnd(call, max - closing.length));
  const lastSpace = kept.lastIndexOf(" ");
  return (lastSpace > 0 ? kept.slice(0, lastSpace) : kept) + closing;
}

/** The line in place of what a list leaves out, e.g. `... 5 more frames`. */
export function more(count: number, what: string): string {
  return `... ${count} more ${what}${count === 1 ? "" : "s"}`;
}

/** A position at or just before `position` that does not split a surrogate pair. */
function wholeEnd(text: string, position: number): number {
  const code = text.charCodeAt(position - 1);
  return code >= 0xd800 && code <= 0xdbff ? position - 1 : position;
}
