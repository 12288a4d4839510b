import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { Answerer } from "./mcp-debugger.js";

interface Asked {
  readonly message: string;
  readonly choices: readonly string[];
}

/** The answer of a user who chooses this. */
export function chosen(answer: string): ElicitResult {
  return { action: "accept", content: { answer } };
}

/** A client's user, who gives the test's answers in order, and then says no. */
export class McpUser {
  asked: Asked[] = [];
  answers: (ElicitResult | Promise<ElicitResult>)[] = [];
  /** The largest number of questions that were open at the same time. */
  mostAtOnce = 0;
  #atOnce = 0;

  readonly answer: Answerer = async (message, choices) => {
    this.asked.push({ message, choices });
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
    try {
      return (await this.answers.shift()) ?? { action: "decline" };
    } finally {
      this.#atOnce -= 1;
    }
  };

  /** The messages of the questions so far. */
  get messages(): string[] {
    return this.asked.map(({ message }) => message);
  }

  /** The next answer, which is given when the returned function is called. */
  hesitates(...later: readonly ElicitResult[]): (answer: ElicitResult) => void {
    let give: (answer: ElicitResult) => void = () => {};
    this.answers = [new Promise((resolve) => (give = resolve)), ...later];
    return (answer) => give(answer);
  }

  /** Says yes to the next questions. */
  agrees(): void {
    this.answers = Array.from({ length: 20 }, () => chosen("Yes"));
  }

  async isAsked(count = 1): Promise<void> {
    while (this.asked.length < count) await setTimeout(10);
  }

  forget(): void {
    this.asked = [];
    this.answers = [];
    this.mostAtOnce = 0;
  }
}
