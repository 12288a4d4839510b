import type { LocalBinding } from "../image/lisp-port.js";

/** What ends what a token begins. */
const ENDS: Readonly<Record<string, string>> = { "(": ")", "#<": ">", "{": "}", "[": "]" };

/** The elements of a call after the function, as the call shows them: `(H (5 0) "a b")` has `(5 0)` and `"a b"`. */
export function argumentsOf(call: string): string[] {
  const elements: string[] = [];
  const open: string[] = [];
  let element = "";
  for (const token of call.slice(1, -1).match(/"(?:\\.|[^"\\])*"|\\.|#<|[\s\S]/g) ?? []) {
    if (open.length === 0 && /^\s$/.test(token)) {
      if (element !== "") elements.push(element);
      element = "";
      continue;
    }
    element += token;
    const end = ENDS[token];
    if (end !== undefined) open.push(end);
    else if (token === open.at(-1)) open.pop();
  }
  if (element !== "") elements.push(element);
  return elements.slice(1);
}

/** The variables of a frame without the arguments that its call shows whole. Each argument of the call stands for one variable. */
export function localsBesideCall<Local extends LocalBinding>(locals: readonly Local[], call: string): readonly Local[] {
  const shown = argumentsOf(call);
  return locals.filter(({ value, marks }) => {
    const position = marks.includes("argument") ? shown.indexOf(value) : -1;
    if (position >= 0) shown.splice(position, 1);
    return position < 0;
  });
}
