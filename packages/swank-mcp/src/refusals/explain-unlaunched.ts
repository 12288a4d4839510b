import type { SwankError } from "swank-client";
import type { ImageExit } from "swank-client/types";
import { Refusal } from "./refusal.js";
import { Reworded } from "./reworded.js";

/** The options that can correct a failed launch, by the client's error code. */
const OPTIONS: Readonly<Record<string, string>> = {
  LISP_NOT_FOUND: "To use another sbcl, start swank-mcp with --lisp COMMAND.",
  SWANK_NOT_FOUND: "To use another Swank, start swank-mcp with --swank FOLDER.",
  LAUNCH_FAILED:
    "The environment and the options of swank-mcp are read when it starts: after changing them, restart it.",
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

/** A file that is loaded into a new image. */
export interface StartFile {
  readonly path: string;
  /** Whether the user named it with `--load`, so that it is not an init file. */
  readonly isNamed: boolean;
}

/** Explains why there is no image: a file ended it while it was loaded. */
export function explainEnding(file: StartFile, { code, signal, problem, outputTail }: ImageExit): Refusal {
  const how = signal === undefined ? `exit code ${code ?? "unknown"}` : `signal ${signal}`;
  const said = problem === "" ? outputTail.trim() : problem;
  const printed = said === "" ? "It printed nothing." : `Lisp printed:\n${said.slice(-MOST_PRINTED)}`;
  return new Refusal("START_FAILED", `${file.path} ended the image while it was loaded: ${how}. ${printed}`, {
    remedy: `Remove the form that ends Lisp, such as (exit), from ${file.path} and call again, or ${without(file)}.`,
  });
}

/** Explains why there is no image yet: a file is still being loaded. */
export function explainLoading(file: StartFile, seconds: number): Refusal {
  return new Refusal("START_FAILED", `The image is not ready: it has been loading ${file.path} for ${seconds} s.`, {
    remedy: `Call again to wait longer. If the file never ends, correct it, then ${without(file)}.`,
  });
}

function without({ path, isNamed }: StartFile): string {
  return `restart swank-mcp ${isNamed ? `without --load ${path}` : "with --no-user-init"}`;
}

/** Most characters repeated of what an image printed. */
const MOST_PRINTED = 1000;

/** Checks the name instead of the class, since `swank-client` is loaded only when Lisp is needed. */
function isSwankError(error: unknown): error is SwankError {
  return error instanceof Error && error.name === "SwankError";
}
