import { type FormSpan, scan } from "sexp-parser";

/** How far code is complete. */
export interface CodeOutline {
  /** `unfinished`: more text could complete it; `surplus`: it has a closing parenthesis too many, and no text can mend that. */
  readonly state: "complete" | "unfinished" | "surplus";
  /** The top-level forms that are complete, with their places. */
  readonly forms: readonly FormSpan[];
}

/** Determines whether code is complete, and the positions of its forms, by the standard readtable. For programs that read code line by line. */
export function outlineCode(code: string): CodeOutline {
  const { kind, forms } = scan(code);
  if (kind === "balanced") return { state: "complete", forms };
  return { state: kind === "extra-close" ? "surplus" : "unfinished", forms };
}
