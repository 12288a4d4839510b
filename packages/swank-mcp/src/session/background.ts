import type { Notices } from "./agent.js";
import { BackgroundEvaluation } from "./background-evaluation.js";
import type { LispSession } from "./image.js";
import type { Evaluation } from "./lisp-port.js";

/** Most ended evaluations that are kept, and most characters of their output that no answer has told. */
const MAX_ENDED = 20;

const MAX_CHARACTERS = 8_000_000;

/** The background evaluations of one agent. Their ids are not used again, also not for another image. */
export class BackgroundEvaluations {
  #kept: readonly BackgroundEvaluation[] = [];
  #lastId = 0;

  /** Oldest first. */
  get all(): readonly BackgroundEvaluation[] {
    return this.#kept;
  }

  add(evaluation: Evaluation, session: LispSession, code: string): BackgroundEvaluation {
    this.#lastId += 1;
    const added = new BackgroundEvaluation(this.#lastId, evaluation, session, code);
    this.#kept = [...this.#kept, added];
    return added;
  }

  find(id: number): BackgroundEvaluation | undefined {
    return this.#kept.find((each) => each.id === id);
  }

  of(evaluation: Evaluation | undefined): BackgroundEvaluation | undefined {
    return this.#kept.find((each) => each.evaluation === evaluation);
  }

  remove(removed: BackgroundEvaluation): void {
    this.#kept = this.#kept.filter((each) => each !== removed);
  }

  /** Removes the oldest that have ended if there are too many, and the output of the oldest if there is too much. */
  limit(): void {
    const ended = this.#kept.filter((each) => each.hasEnded);
    for (const oldest of ended.slice(0, -MAX_ENDED)) this.remove(oldest);
    let room = MAX_CHARACTERS;
    for (const each of ended.slice(-MAX_ENDED).reverse()) {
      room -= each.size;
      if (room < 0) each.dropOutput();
    }
  }

  /** Adds a notice for each of which the agent does not know yet that it has stopped or ended. */
  tell(notices: Notices): void {
    for (const each of this.#kept) {
      const news = each.takeNews();
      if (news !== undefined)
        notices.add(news, "background evaluation", `evaluate-lisp with id ${each.id} shows its report.`);
    }
  }

  /** Forgets those that a reset has ended, or that had ended before. One that could not be ended stays. */
  forgetEnded(): void {
    this.#kept = this.#kept.filter(
      ({ hasEnded, evaluation, session }) =>
        !hasEnded && !evaluation.isSettled && !session.isRetired && session.client.isOpen,
    );
  }

  /** Ends all, because their agent leaves. Does not wait. */
  close(): void {
    for (const each of this.#kept) each.end();
    this.#kept = [];
  }
}
