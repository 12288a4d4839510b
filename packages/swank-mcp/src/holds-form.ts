/** Whether code has anything in it besides white space and comments, as far as the standard readtable goes. */
export function holdsForm(code: string): boolean {
  let position = 0;
  while (position < code.length) {
    const next = afterComment(code, position);
    if (next === undefined) return true;
    position = next;
  }
  return false;
}

/** @returns where the white space or comment at `position` ends; `undefined` when something else is there. */
function afterComment(code: string, position: number): number | undefined {
  const character = code[position] ?? "";
  if (/\s/.test(character)) return position + 1;
  if (character === ";") {
    const end = code.indexOf("\n", position);
    return end < 0 ? code.length : end + 1;
  }
  return code.startsWith("#|", position) ? afterBlock(code, position) : undefined;
}

/** @returns where a block comment ends; `undefined` when it does not, which is for Lisp's reader to report. */
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
