import { DecodeError, type Sexp } from "sexp-parser";
import type { Connection } from "../connection/connection.js";
import type { RequestOptions } from "../connection/request-options.js";
import { SwankError } from "../errors.js";
import type { Command } from "./command.js";

/** How to run one command; its name is the label. */
export type RunOptions = Omit<RequestOptions, "label">;

/**
 * Runs a command in the image.
 *
 * @throws SwankError `REQUEST_ABORTED` when it was unwound, unless it is there to unwind; `UNEXPECTED_REPLY`; whatever
 * `Connection.request` throws
 */
export async function runCommand<Args extends readonly unknown[], Result>(
  connection: Connection,
  command: Command<Args, Result>,
  args: Args,
  options: RunOptions = {},
): Promise<Result> {
  const reply = await connection.request(command.encode(...args), { ...options, label: command.name });
  if (reply.status === "ok") return decodeResult(command, reply.value);
  if (command.unwound !== undefined) return command.unwound(reply.condition);
  throw new SwankError("REQUEST_ABORTED", `${command.name}: aborted in Lisp (${reply.condition}).`, {
    details: { operation: command.name },
  });
}

function decodeResult<Result>(command: Command<never, Result>, value: Sexp): Result {
  try {
    return command.decode(value);
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    throw new SwankError("UNEXPECTED_REPLY", `${command.name}: ${cause.message}`, {
      cause,
      details: { operation: command.name },
    });
  }
}
