import { BoundedText } from "./bounded-text.js";
import type { LispWarning, Transcript } from "./outcome.js";

/** The stream that a piece of output was written to. */
export type OutputStream = "stdout" | "stderr";

/** Characters of each stream that are kept of the beginning, and of the end, between two outcomes. */
const HEAD_LIMIT = 1_000_000;
const TAIL_LIMIT = 10_000;

/** Warnings kept between two outcomes. */
const WARNINGS_LIMIT = 1000;

/** What a client's evaluations share, as far as the image has told. */
export interface SessionState {
  package: string;
}

/** Collects what an evaluation prints and warns until an outcome takes it. */
export class TranscriptRecorder {
  readonly #text = {
    stdout: new BoundedText(HEAD_LIMIT, TAIL_LIMIT),
    stderr: new BoundedText(HEAD_LIMIT, TAIL_LIMIT),
  };
  #warnings: LispWarning[] = [];
  #warningsOmitted = 0;
  readonly #session: SessionState;

  constructor(session: SessionState) {
    this.#session = session;
  }

  write(stream: OutputStream, text: string, omittedBefore = 0): void {
    if (omittedBefore > 0) this.#text[stream].skip(omittedBefore);
    this.#text[stream].append(text);
  }

  warn(warnings: readonly LispWarning[], omitted: number): void {
    const kept = warnings.slice(0, Math.max(0, WARNINGS_LIMIT - this.#warnings.length));
    this.#warnings = [...this.#warnings, ...kept];
    this.#warningsOmitted += omitted + warnings.length - kept.length;
  }

  set package(name: string) {
    this.#session.package = name;
  }

  /** Everything since the last call. */
  take(): Transcript {
    const warnings = this.#warnings;
    const warningsOmitted = this.#warningsOmitted;
    this.#warnings = [];
    this.#warningsOmitted = 0;
    return {
      stdout: this.#text.stdout.take(),
      stderr: this.#text.stderr.take(),
      warnings,
      warningsOmitted,
      package: this.#session.package,
    };
  }
}
