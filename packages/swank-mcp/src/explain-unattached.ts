import type { SwankError } from "swank-client";
import { addressText, DEFAULT_HOST, type ImageAddress } from "./image-address.js";
import { Refusal } from "./refusal.js";
import { tunnelTo } from "./tunnel.js";

/** An error of `swank-client` with a remedy that knows how this server was started. */
class Reworded extends Error {
  readonly code: string;
  readonly remedy: string;

  constructor(cause: SwankError, remedy: string) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.remedy = remedy;
  }
}

/** What keeps an image from being attached to, and what to do about it in the words of this server's options. */
export function explainUnattached(error: unknown, address: ImageAddress): unknown {
  if (!isSwankError(error)) return error;
  switch (error.code) {
    case "CONNECTION_REFUSED":
      return unreachable(error, howToListen(address));
    case "HOST_NOT_FOUND":
      return unreachable(error, "Ask the user for the right name or address: swank-mcp must be started with it.");
    case "HOST_UNREACHABLE":
    case "CONNECT_TIMEOUT":
      return unreachable(error, `Ask the user whether that machine is up. ${throughTunnel(address)}`);
    case "SECRET_REJECTED":
    case "SECRET_UNREADABLE":
      return new Reworded(
        error,
        `${error.remedy} swank-mcp takes it from --secret-file FILE, and with --no-secret sends none.`,
      );
    default:
      return new Reworded(error, `${error.remedy}${missingSecret(error)}${otherPort(error, address)}`);
  }
}

function unreachable(cause: SwankError, remedy: string): Refusal {
  return new Refusal("LISP_UNREACHABLE", `No Lisp can be reached. ${cause.message}`, { cause, remedy });
}

function howToListen(address: ImageAddress): string {
  return `Ask the user to evaluate this in the image (in Emacs, in the SLIME REPL), then call again:
  (swank:create-server :port ${address.port} :dont-close t)
If there is no package SWANK there, (ql:quickload :swank) comes first.${isThisMachine(address) ? "" : ` ${throughTunnel(address)}`}`;
}

function throughTunnel(address: ImageAddress): string {
  return `Swank listens on its own machine only, unless told otherwise: ${tunnelTo(address)}.`;
}

function missingSecret({ details }: SwankError): string {
  return details.secretMissing === true ? " swank-mcp takes it from --secret-file FILE." : "";
}

function otherPort({ details }: SwankError, { host }: ImageAddress): string {
  if (details.port === undefined) return "";
  const there = host === DEFAULT_HOST ? details.port : addressText({ host, port: details.port });
  return ` swank-mcp must then be started with --attach ${there}.`;
}

function isThisMachine({ host }: ImageAddress): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

/** Told by name, not class: `swank-client` is not loaded before Lisp is needed. */
function isSwankError(error: unknown): error is SwankError {
  return error instanceof Error && error.name === "SwankError";
}
