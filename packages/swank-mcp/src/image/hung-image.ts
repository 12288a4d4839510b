import { Refusal } from "../refusals/refusal.js";
import type { ImageOrigin, LispSession } from "./lisp-session.js";

const REMEDIES: Readonly<Record<ImageOrigin["kind"], string>> = {
  own: "Call reset-session: it replaces the image with a fresh one. Definitions in this image are lost.",
  attached:
    "The image belongs to the user, and this server cannot free it. Ask the user to interrupt it at its own terminal (in Emacs, C-c C-c in *inferior-lisp*) and to undo the latest definition, such as a PRINT-OBJECT method, or to restart it.",
};

/** What to do about a hung image. */
export function hangRemedy({ origin }: LispSession): string {
  return REMEDIES[origin.kind];
}

/** Whether the image does not answer even a small request within `ANSWER_TIME`. False if the connection is closed. */
export async function isHung(session: LispSession, signal: AbortSignal): Promise<boolean> {
  if (!session.client.isOpen) return false;
  return session.directory(signal).then(() => false, isUnanswered);
}

/** Replaces a timeout by the refusal `IMAGE_HANGS` if the image hangs. Returns any other error unchanged. */
export async function explainHang(error: unknown, session: LispSession, signal: AbortSignal): Promise<unknown> {
  if (!isUnanswered(error) || !(await isHung(session, signal))) return error;
  return new Refusal("IMAGE_HANGS", `The image does not answer: ${messageOf(error)}`, {
    remedy: hangRemedy(session),
    cause: error,
  });
}

/** Whether an error means that a request was not answered in time. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "REQUEST_TIMEOUT";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
