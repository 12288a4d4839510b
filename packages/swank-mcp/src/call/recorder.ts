import type { types } from "swank-client";
import type { ToolAnswer } from "../base/answer.js";
import type { OnDefect } from "../base/log.js";
import type { ApprovalAnswer, AskedIn } from "../session/approval-places.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { Answered, ApprovalWatch } from "../session/approvals.js";

/** A call as the client sent it: nothing has checked its name and arguments. */
export interface RecordedCall {
  readonly name: unknown;
  readonly args: unknown;
}

export interface CallRecorder {
  begin(call: RecordedCall): CallEntry;
}

/** One call in a record. What a function of it throws is reported as a defect, and changes nothing in the call. */
export interface CallEntry extends Partial<ApprovalWatch> {
  /** The call's code has printed this. It may come after `end`, from an evaluation that goes on in the background or has stopped and is resumed. */
  output?(text: string, stream: types.OutputStream): void;
  end(answer: ToolAnswer, milliseconds: number): void;
  /** The call has begun background evaluation `id`, which has ended now. */
  ended?(id: number, report: ToolAnswer, milliseconds: number): void;
}

/** The entries of one call in all records. Its functions never throw. */
export class CallEntries implements ApprovalWatch {
  readonly #onDefect: OnDefect;
  readonly #entries: readonly CallEntry[];
  /** Whether a record has output as it comes. */
  readonly takesOutput: boolean;

  constructor(recorders: readonly CallRecorder[], call: RecordedCall, onDefect: OnDefect) {
    this.#onDefect = onDefect;
    this.#entries = this.#each(recorders, (recorder) => recorder.begin(call));
    this.takesOutput = this.#entries.some((entry) => entry.output !== undefined);
  }

  output(text: string, stream: types.OutputStream): void {
    this.#each(this.#entries, (entry) => entry.output?.(text, stream));
  }

  asked(request: ApprovalRequest, where: AskedIn): Answered {
    const listeners = this.#each(this.#entries, (entry) => entry.asked?.(request, where));
    return (answer) => void this.#each(listeners, (answered) => answered?.(answer));
  }

  decided(request: ApprovalRequest, answer: ApprovalAnswer): void {
    this.#each(this.#entries, (entry) => entry.decided?.(request, answer));
  }

  end(answer: ToolAnswer, milliseconds: number): void {
    this.#each(this.#entries, (entry) => entry.end(answer, milliseconds));
  }

  ended(id: number, report: ToolAnswer, milliseconds: number): void {
    this.#each(this.#entries, (entry) => entry.ended?.(id, report, milliseconds));
  }

  /** The results of `tell` for all that do not throw. */
  #each<From, To>(all: readonly From[], tell: (one: From) => To): readonly To[] {
    return all.flatMap((one) => {
      try {
        return [tell(one)];
      } catch (error) {
        this.#onDefect(error);
        return [];
      }
    });
  }
}
