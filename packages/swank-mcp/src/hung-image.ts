import type { ImageOrigin, LispSession } from "./lisp-session.js";
import { Refusal } from "./refusal.js";

const REMEDIES: Readonly<Record<ImageOrigin["kind"], string>> = {
  own: "Call reset-session: it replaces the image with a fresh one, without what was defined in this one.",
  attached:
    "The image is the user's, and this server cannot free it. Ask the user to interrupt it at its own terminal (in Emacs, C-c C-c in *inferior-lisp*) and to undo the latest definition, such as a PRINT-OBJECT method, or to restart it.",
};

/** What to do about an image that hangs. */
export function hangRemedy({ origin }: LispSession): string {
  return REMEDIES[origin.kind];
}

/** Whether the image leaves even a small question unanswered for a few seconds. False once the connection is closed. */
export async function isHung(session: LispSession, signal: AbortSignal): Promise<boolean> {
  if (!session.client.isOpen) return false;
  return session.directory(signal).then(() => false, isSilence);
}

/** What a tool failed with; where it only ran out of time because the image hangs, that, with its remedy. */
export async function explainHang(error: unknown, session: LispSession, signal: AbortSignal): Promise<unknown> {
  if (!isSilence(error) || !(await isHung(session, signal))) return error;
  return new Refusal("IMAGE_HANGS", `The image does not answer: ${messageOf(error)}`, {
    remedy: hangRemedy(session),
    cause: error,
  });
}

/** True of a request that was not answered in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "REQUEST_TIMEOUT";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
