import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Emacs } from "./emacs.js";

const FOLDER = fileURLToPath(new URL("../../../packages/swank-mcp/emacs", import.meta.url));
const HELPERS = fileURLToPath(new URL("../../support/swank-mcp-tests.el", import.meta.url));

/** Loads swank-mcp.el into an Emacs, as a user's configuration does. */
export async function useSwankMcp(emacs: Emacs): Promise<void> {
  await emacs.eval(`(progn (add-to-list 'load-path ${JSON.stringify(FOLDER)})
                           (load ${JSON.stringify(HELPERS)} nil t)
                           (require 'swank-mcp)
                           (swank-mcp-mode 1))`);
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

/** Waits until the minibuffer asks for an agent, and returns the prompt. */
export async function question(emacs: Emacs): Promise<string> {
  await emacs.until('(not (equal "" (swank-mcp-test-prompt)))', "a question of an agent");
  return z.string().parse(JSON.parse(await emacs.eval("(swank-mcp-test-prompt)")));
}

/** Waits until Emacs neither asks nor has a question to ask. */
export async function noQuestion(emacs: Emacs): Promise<void> {
  await emacs.until("(not (or swank-mcp--posed (swank-mcp--all-questions)))", "the end of all questions");
}

/** Waits until the mode line says this. */
export async function modeLineShowing(emacs: Emacs, text: string): Promise<void> {
  await emacs.until(`(equal ${JSON.stringify(text)} (string-trim (format-mode-line swank-mcp--mode-line)))`, text);
}
