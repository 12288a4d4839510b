import type { Outcome, SwankClient, types } from "swank-client";

/** The first outcome of code. */
export function evaluate(client: SwankClient, code: string, options?: types.EvaluateOptions): Promise<Outcome> {
  return client.evaluate(code, options).next();
}

/** The printed values of code that must return. */
export async function values(
  client: SwankClient,
  code: string,
  options?: types.EvaluateOptions,
): Promise<readonly string[]> {
  return returned(await evaluate(client, code, options)).values;
}

export function returned(outcome: Outcome): types.Returned {
  return outcome.status === "returned" ? outcome : refuse("returned", outcome);
}

export function stopped(outcome: Outcome): types.Stopped {
  return outcome.status === "stopped" ? outcome : refuse("stopped", outcome);
}

export function aborted(outcome: Outcome): types.Aborted {
  return outcome.status === "aborted" ? outcome : refuse("aborted", outcome);
}

export function lost(outcome: Outcome): types.Lost {
  return outcome.status === "lost" ? outcome : refuse("lost", outcome);
}

function refuse(expected: Outcome["status"], outcome: Outcome): never {
  const error = outcome.status === "stopped" ? outcome.stop.condition : "error" in outcome ? outcome.error : undefined;
  const shown = error === undefined ? "" : `: ${error.class}: ${error.message}`;
  throw new Error(`Expected an evaluation that is ${expected}, not ${outcome.status}${shown}.`);
}
