import { SwankError } from "../errors.js";

/** Characters of it that the error shows. */
const PREVIEW_LENGTH = 80;

/** The error for a payload that is not a list beginning with a keyword. */
export function notAMessage(text: string, cause?: unknown): SwankError {
  return new SwankError("UNREADABLE_MESSAGE", "What was received is not a Swank message.", {
    cause,
    details: { received: text.slice(0, PREVIEW_LENGTH) },
  });
}
