import type { Evaluation, SwankClient } from "swank-client";

/** Resolves when the evaluation has printed `sign`. */
export function whenRunning(client: SwankClient, code: string, sign = "running"): Promise<Evaluation> {
  return new Promise((resolve) => {
    const evaluation: Evaluation = client.evaluate(`(princ "running") ${code}`, {
      onOutput: ({ text }) => {
        if (text.includes(sign)) resolve(evaluation);
      },
    });
  });
}

/** Invokes the restart of this name at an evaluation's stop. */
export async function continueWith(evaluation: Evaluation, name: string): Promise<void> {
  const index = evaluation.stop?.restarts.findIndex((restart) => restart.name === name) ?? -1;
  await evaluation.stop?.invokeRestart(index);
}
