import type { SwankError } from "swank-client";
import { addressText, DEFAULT_HOST, type ImageAddress } from "../cli/image-address.js";
import { tunnelTo } from "../cli/tunnel.js";
import { Refusal } from "./refusal.js";
import { Reworded } from "./reworded.js";

/** Explains why an image cannot be attached to, with a remedy in terms of this server's options. */
export function explainUnattached(error: unknown, address: ImageAddress): unknown {
  if (!isSwankError(error)) return error;
  switch (error.code) {
    case "CONNECTION_REFUSED":
      return unreachable(error, howToListen(address));
    case "HOST_NOT_FOUND":
      return unreachable(error, "Ask the user for the right name or address, and to start swank-mcp with it.");
    case "HOST_UNREACHABLE":
    case "CONNECT_TIMEOUT":
      return unreachable(error, `Ask the user whether that machine is up. ${throughTunnel(address)}`);
    case "SECRET_REJECTED":
    case "SECRET_UNREADABLE":
      return new Reworded(
        error,
        `${error.remedy} swank-mcp reads it from --secret-file FILE; with --no-secret it sends none.`,
      );
    default:
      return new Reworded(error, `${error.remedy}${missingSecret(error)}${otherPort(error, address)}`);
  }
}

/** Explains why an image cannot be attached to again after the user has disconnected all agents from it. */
export function explainKicked(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== "LISP_UNREACHABLE") return error;
  const message = `The user has disconnected all agents, with M-x swank-mcp-kick in Emacs. ${error.message}`;
  const remedy = "Ask the user whether you may go on. M-x swank-mcp-listen in Emacs lets agents in again.";
  return new Refusal("LISP_UNREACHABLE", message, { cause: error, remedy });
}

function unreachable(cause: SwankError, remedy: string): Refusal {
  return new Refusal("LISP_UNREACHABLE", `No Lisp can be reached. ${cause.message}`, { cause, remedy });
}

function howToListen(address: ImageAddress): string {
  return `Ask the user to evaluate this in the image (in Emacs, in the SLIME REPL), then call again:
  (swank:create-server :port ${address.port} :dont-close t)
If the image has no SWANK package, evaluate (ql:quickload :swank) first.${isThisMachine(address) ? "" : ` ${throughTunnel(address)}`}`;
}

function throughTunnel(address: ImageAddress): string {
  return `By default Swank listens only on its own machine: ${tunnelTo(address)}.`;
}

function missingSecret({ details }: SwankError): string {
  return details.secretMissing === true ? " swank-mcp reads it from --secret-file FILE." : "";
}

function otherPort({ details }: SwankError, { host }: ImageAddress): string {
  if (details.port === undefined) return "";
  const there = host === DEFAULT_HOST ? details.port : addressText({ host, port: details.port });
  return ` swank-mcp must then be started with --attach ${there}.`;
}

function isThisMachine({ host }: ImageAddress): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

/** Checks the name instead of the class, since `swank-client` is loaded only when Lisp is needed. */
function isSwankError(error: unknown): error is SwankError {
  return error instanceof Error && error.name === "SwankError";
}
