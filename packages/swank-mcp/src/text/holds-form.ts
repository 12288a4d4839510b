/** Whether code contains anything other than white space and comments, in the standard readtable's syntax. */
export function holdsForm(code: string): boolean {
  let position = 0;
  while (position < code.length) {
    const next = afterComment(code, position);
    if (next === undefined) return true;
    position = next;
  }
  return false;
}

/** @returns the end of the white space or comment at `position`; `undefined` when something else is there. */
function afterComment(code: string, position: number): number | undefined {
  const character = code[position] ?? "";
  if (/\s/.test(character)) return position + 1;
  if (character === ";") {
    const end = code.indexOf("\n", position);
    return end < 0 ? code.length : end + 1;
  }
  return code.startsWith("#|", position) ? afterBlock(code, position) : undefined;
}

/** @returns the end of a block comment; `undefined` when it has none, which Lisp's reader then reports. */
function afterBlock(code: string, start: number): number | undefined {
  const marks = /#\||\|#/g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(code); mark !== null; mark = marks.exec(code)) {
    depth += mark[0] === "#|" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return undefined;
}
