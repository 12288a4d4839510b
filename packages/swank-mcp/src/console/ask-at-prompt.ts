import type { Interface } from "node:readline";
import type { Ask, Question, Reply } from "../agent/elicitation.js";

/** Asks in the console. The first letters of a choice are enough; any other answer declines. */
export function askAtPrompt(lines: Interface): Ask {
  return async ({ message, choices }, { timeout, signal }) => {
    const end = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const typed = await question(lines, `${message}\n${choices.join(", ")}? `, end);
    return typed === undefined ? { kind: "unanswered" } : reply(typed.trim().toLowerCase(), choices);
  };
}

/** @returns `undefined` when no line was typed before the end. */
function question(lines: Interface, query: string, end: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(undefined);
    end.addEventListener("abort", giveUp, { once: true });
    lines.question(query, { signal: end }, (typed) => {
      end.removeEventListener("abort", giveUp);
      resolve(typed);
    });
  });
}

function reply(typed: string, choices: Question["choices"]): Reply {
  const choice = typed === "" ? undefined : choices.find((candidate) => candidate.toLowerCase().startsWith(typed));
  return choice === undefined ? { kind: "declined" } : { kind: "chosen", choice };
}
