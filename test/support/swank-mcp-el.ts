import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Emacs } from "./emacs.js";
import { withHelpers } from "./sly.js";

const FOLDER = fileURLToPath(new URL("../../../packages/swank-mcp/emacs", import.meta.url));
const HELPERS = fileURLToPath(new URL("../../support/swank-mcp-tests.el", import.meta.url));

/** Loads swank-mcp.el into an Emacs, as a user's configuration does. */
export async function useSwankMcp(emacs: Emacs): Promise<void> {
  await withHelpers(HELPERS, (helpers) =>
    emacs.eval(`(progn (add-to-list 'load-path ${JSON.stringify(FOLDER)})
                       (load ${JSON.stringify(helpers)} nil t)
                       (require 'swank-mcp)
                       (swank-mcp-mode 1))`),
  );
}

/** Waits until Emacs has the ledger of its Lisp, so that it receives events. */
export async function followsAgents(emacs: Emacs): Promise<void> {
  await emacs.until("(swank-mcp-test-greeted-p)", "the Lisp's reply to its announcement");
}

/** The agents' state that the mode line shows, such as `agent idle`; empty without agents. */
export async function modeLine(emacs: Emacs): Promise<string> {
  return z
    .string()
    .parse(
      JSON.parse(await emacs.eval("(substring-no-properties (string-trim (format-mode-line swank-mcp--mode-line)))")),
    );
}

/** Waits until a window shows an agent's question that can be answered, and returns all of its text. */
export async function question(emacs: Emacs, text = ""): Promise<string> {
  await emacs.until(
    `(let ((shown (swank-mcp-test-question)))
       (and (not (equal "" shown)) (string-match-p (regexp-quote ${JSON.stringify(text)}) shown)))`,
    `a question of an agent ${text}`,
  );
  return z.string().parse(JSON.parse(await emacs.eval("(swank-mcp-test-question)")));
}

/** Presses the chord that answers an agent's question, in the frame: y, n, ! or s. */
export function answer(emacs: Emacs, key: string): void {
  emacs.type("\x03", "?", key);
}

/** Waits until Emacs neither asks nor has a question to ask. */
export async function noQuestion(emacs: Emacs): Promise<void> {
  await emacs.until(
    `(not (or (swank-mcp--all-questions) (get-buffer-window swank-mcp--question-buffer t)))`,
    "the end of all questions",
  );
}

/** Waits until the mode line says this. */
export async function modeLineShowing(emacs: Emacs, text: string): Promise<void> {
  await emacs.until(`(equal ${JSON.stringify(text)} (string-trim (format-mode-line swank-mcp--mode-line)))`, text);
}
