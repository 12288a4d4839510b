import type { SwankMessage } from "../wire/messages.js";
import type { RequestFailure } from "./pending-requests.js";

/** A failure, and the request it belongs to if that can be told. */
export interface AddressedFailure extends RequestFailure {
  readonly id: number | undefined;
}

const REFUSED = {
  "too-large": {
    code: "REPLY_TOO_LARGE",
    message: "The result takes more than 16 MB as text, is nested too deeply, or contains itself.",
  },
  unprintable: {
    code: "UNREADABLE_MESSAGE",
    message: "Lisp could not send its reply: printing the result signalled an error.",
  },
} as const;

/** What a message says about the failure of a request; `undefined` for messages that say nothing of the kind. */
export function requestFailure(message: SwankMessage): AddressedFailure | undefined {
  switch (message.type) {
    case "invalid-rpc":
      return { id: message.id, code: "NO_SUCH_THREAD", message: message.message };
    case "reply-refused":
      return { id: message.id, ...REFUSED[message.reason] };
    case "reader-error":
      // Swank also reports with this message that it could not write a reply as UTF-8.
      return message.carried === "reply"
        ? { id: message.id, code: "UNREADABLE_MESSAGE", message: `Lisp could not send its reply: ${message.message}` }
        : { id: message.id, code: "REQUEST_UNREADABLE", message: message.message };
    case "unreadable":
      if (message.id === undefined) return undefined;
      return { id: message.id, code: "UNREADABLE_MESSAGE", message: `The reply cannot be read: ${message.problem}` };
    case "malformed":
      if (message.id === undefined) return undefined;
      return { id: message.id, code: "UNEXPECTED_REPLY", message: message.problem };
    default:
      return undefined;
  }
}
