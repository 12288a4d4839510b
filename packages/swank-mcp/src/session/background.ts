import type { types } from "swank-client";
import { cutName, oneLine } from "../text/cut.js";
import type { Notices } from "./agent.js";
import { type Conclusion, concludeUnderway, EMPTY_TRANSCRIPT, markedOutput } from "./conclusion.js";
import type { LispSession } from "./image.js";
import type { Evaluation, Outcome, Stop } from "./lisp-port.js";

const MAX_MESSAGE = 200;

/** What a background evaluation does, or how it has ended. `failed`: with an error, or it could not begin. */
type State = "running" | "stopped" | "returned" | "aborted" | "failed" | "lost";

/** An evaluation for whose end no call waits. */
export class BackgroundEvaluation {
  readonly id: number;
  readonly evaluation: Evaluation;
  readonly session: LispSession;
  readonly code: string;
  readonly since = Date.now();
  thread: number | undefined;
  readonly #ending = new AbortController();
  /** Settles at its first stop or end. */
  readonly reported: Promise<void>;
  #report: () => void = () => undefined;
  #end: number | undefined;
  #failure: { readonly error: unknown } | undefined;
  #outcome: Outcome | undefined;
  #stop: Stop | undefined;
  #latest: Conclusion | undefined;
  /** Output of earlier outcomes and of the latest one that no answer has told. */
  #untold: readonly types.Transcript[] = [];
  /** Whether the agent does not know of the latest outcome. */
  #isNews = false;
  #mentioned: Stop | undefined;
  /** Whether no answer has reported the latest outcome. */
  #isFirst = true;

  constructor(id: number, evaluation: Evaluation, session: LispSession, code: string) {
    this.id = id;
    this.evaluation = evaluation;
    this.session = session;
    this.code = code;
    this.reported = new Promise((resolve) => {
      this.#report = resolve;
    });
  }

  /** Aborted when the evaluation is to end, because its agent leaves. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get state(): State {
    if (this.#failure !== undefined) return "failed";
    if (this.#stop?.isLive === true) return "stopped";
    const { status, isError = false } = this.#latest ?? {};
    if (status === "aborted") return isError ? "failed" : "aborted";
    return status === "returned" || status === "lost" ? status : "running";
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Milliseconds from its beginning to its end, or to now. */
  get age(): number {
    return (this.#end ?? Date.now()) - this.since;
  }

  get size(): number {
    return this.#untold.reduce((sum, { stdout, stderr }) => sum + stdout.length + stderr.length, 0);
  }

  end(): void {
    this.#ending.abort();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#finish();
    this.#isNews = true;
    this.#report();
  }

  /**
   * Notes an outcome: a stop or the end.
   *
   * @param outcome - `undefined` for an evaluation that could not be ended at its time limit.
   * @param isTold - Whether the answer of the call that has resumed it reports the same outcome, before or after it is noted here.
   */
  record(outcome: Outcome | undefined, conclusion: Conclusion, isTold = false): void {
    const isKnown = outcome !== undefined && this.#outcome === outcome;
    if (isKnown && !isTold) return;
    const untold = isKnown ? this.#untold.slice(0, -1) : this.#untold;
    this.#untold = isTold ? untold : [...untold, conclusion.transcript];
    this.#outcome = outcome;
    this.#stop = outcome?.status === "stopped" ? outcome.stop : undefined;
    this.thread = this.#stop?.thread ?? this.thread;
    this.#latest = conclusion;
    this.#isNews = !isTold;
    this.#isFirst = !isTold;
    if (["returned", "aborted", "lost"].includes(conclusion.status)) this.#finish();
    this.#report();
  }

  /** An answer tells the agent of this stop, but not of the output. The outcome may be noted later. */
  mention(stop: Stop): void {
    this.#mentioned = stop;
  }

  /**
   * What an answer tells now: the report of the end or of the live stop, or `underway`, with the output that no answer has told.
   *
   * The last error follows the answers, not the image: contract error-state-preservation lets only an answer of evaluate-lisp change it, and
   * describe-last-error must not speak of an error that the agent has not seen. So the first answer that tells an outcome changes it, as that
   * of any evaluation does. A later one that repeats an error sets it again; one that repeats values clears nothing.
   *
   * @throws the reason why it could not begin
   */
  take(underway: string): Conclusion {
    this.#isNews = false;
    if (this.#failure !== undefined) throw this.#failure.error;
    const latest = this.state === "running" ? this.#takeProblem() : this.#latest;
    // Threads that the code has started may print after its end.
    const last = this.evaluation.takeTranscript();
    const transcripts = [...this.#untold, markedOutput(last)];
    this.#untold = [];
    if (latest === undefined) return concludeUnderway(joined(transcripts, last), underway);
    const isRepeated = !this.#isFirst;
    this.#isFirst = false;
    const { lastError } = latest;
    return {
      ...latest,
      transcript: joined(transcripts, latest.transcript),
      lastError: isRepeated && lastError.kind === "clear" ? { kind: "keep" } : lastError,
    };
  }

  /** What the agent has not been told yet, as a sentence; `undefined` if there is nothing. */
  get news(): string | undefined {
    const isKnown = this.#stop !== undefined && this.#stop === this.#mentioned;
    return this.#isNews && !isKnown ? `Background evaluation ${this.id} ${this.#newsText()}` : undefined;
  }

  takeNews(): string | undefined {
    const { news } = this;
    if (news !== undefined) this.#isNews = false;
    return news;
  }

  dropOutput(): void {
    const left = this.size;
    if (left > 0)
      this.#untold = [{ ...EMPTY_TRANSCRIPT, stdout: `[... ${left} characters left out: too much was kept ...]\n` }];
  }

  /** The report that it could not be ended at its time limit, once. */
  #takeProblem(): Conclusion | undefined {
    const latest = this.#isFirst && this.#latest?.status === "running" ? this.#latest : undefined;
    if (latest !== undefined) this.#latest = undefined;
    return latest;
  }

  #newsText(): string {
    const { ending, status } = this.#latest ?? {};
    if (status === undefined) return "could not begin.";
    if (ending?.kind !== "condition") return status === "aborted" ? "has ended: it was aborted." : "has ended.";
    const { type, message } = ending.error;
    const text = `${cutName(type)}: ${oneLine(message, MAX_MESSAGE)}`.replace(/(?<=[^.!?])$/, ".");
    if (status === "running") return `could not be stopped: ${text}`;
    return `has ${status === "stopped" ? "stopped" : "ended"}: ${text}`;
  }

  #finish(): void {
    this.#end ??= Date.now();
    this.#stop = undefined;
  }
}

/** One transcript with the output and the warnings of all, and the other fields of `last`. */
function joined(transcripts: readonly types.Transcript[], last: types.Transcript): types.Transcript {
  const { package: packageName, milliseconds } = last;
  const redefinitions = transcripts.map((each) => each.redefinitions);
  const conditions = transcripts.findLast((each) => each.conditions !== undefined)?.conditions;
  return {
    stdout: transcripts.map(({ stdout }) => stdout).join(""),
    stderr: transcripts.map(({ stderr }) => stderr).join(""),
    output: [],
    outputOmitted: [],
    warnings: transcripts.flatMap(({ warnings }) => warnings),
    warningsInFiles: transcripts.flatMap(({ warningsInFiles }) => warningsInFiles),
    warningsOmitted: transcripts.reduce((sum, { warningsOmitted }) => sum + warningsOmitted, 0),
    redefinitions: {
      count: redefinitions.reduce((sum, { count }) => sum + count, 0),
      files: redefinitions.flatMap(({ files }) => files),
      stale: redefinitions.flatMap(({ stale }) => stale),
      inside: redefinitions.flatMap(({ inside }) => inside),
    },
    ...(conditions === undefined ? {} : { conditions }),
    package: packageName,
    milliseconds,
  };
}

/** Most ended evaluations that are kept, and most characters of their output that no answer has told. */
const MAX_ENDED = 20;

const MAX_CHARACTERS = 8_000_000;

/** The background evaluations of one agent. Their ids are not used again, also not for another image. */
export class BackgroundEvaluations {
  #kept: readonly BackgroundEvaluation[] = [];
  #lastId = 0;

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

  close(): void {
    for (const each of this.#kept) each.end();
    this.#kept = [];
  }
}
