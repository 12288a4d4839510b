import { callerOf } from "../caller.js";
import type { Connection } from "../connection/connection.js";
import type { RequestOptions } from "../connection/request-options.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import type { Command } from "./command.js";

/** How to run one command; its name is the label. */
export type RunOptions = Omit<RequestOptions, "label">;

/**
 * Runs a command in the image. If it stops in the debugger, it is unwound.
 *
 * @throws SwankError `REQUEST_FAILED` with what it signalled; `REQUEST_ABORTED` when it was unwound, unless it is there to unwind;
 * `UNEXPECTED_REPLY`; what `Connection.request` throws
 */
export async function runCommand<Args extends readonly unknown[], Result>(
  connection: Connection,
  command: Command<Args, Result>,
  args: Args,
  options: RunOptions = {},
): Promise<Result> {
  const reply = await callerOf(connection).reply(command.encode(...args), { ...options, label: command.name });
  if (reply.status === "ok") return decodeValue(command.decode, reply.value, command.name);
  if (command.unwound !== undefined) return command.unwound(reply.condition);
  throw new SwankError("REQUEST_ABORTED", `${command.name}: aborted in Lisp (${reply.condition}).`, {
    details: { operation: command.name },
  });
}
