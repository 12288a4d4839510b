import type { SwankError } from "swank-client";
import { Reworded } from "./reworded.js";

/** The options that can correct a failed launch, by the client's error code. */
const OPTIONS: Readonly<Record<string, string>> = {
  LISP_NOT_FOUND: "To use another sbcl, start swank-mcp with --lisp COMMAND.",
  SWANK_NOT_FOUND: "To use another Swank, start swank-mcp with --swank FOLDER.",
};

const HEAP = "Start swank-mcp with another --dynamic-space-size, such as 1024, or without it.";

/** Explains why no image can be launched, with a remedy in terms of this server's options. */
export function explainUnlaunched(
  error: unknown,
  { dynamicSpaceSize }: { readonly dynamicSpaceSize?: number | undefined },
) {
  if (!isSwankError(error)) return error;
  if (error.code === "INVALID_ARGUMENT" && dynamicSpaceSize !== undefined) return new Reworded(error, HEAP);
  const option = OPTIONS[error.code];
  return option === undefined ? error : new Reworded(error, `${error.remedy}\n${option}`);
}

/** Checks the name instead of the class, since `swank-client` is loaded only when Lisp is needed. */
function isSwankError(error: unknown): error is SwankError {
  return error instanceof Error && error.name === "SwankError";
}
