import { Refusal, type RefusalCode } from "./refusal.js";

interface Translation {
  readonly code: RefusalCode;
  /** The contract's message, which replaces the client's. The remedy then repeats the client's message before `next`. */
  readonly message?: string;
  readonly next?: string;
}

/** The refusals for errors of the client, by code. All other codes stay unchanged. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  NO_SUCH_FRAME: {
    code: "INVALID_FRAME",
    message: "Frame index out of range",
    next: "debugger_frames lists them.",
  },
  STALE_SESSION: { code: "STALE_STOP" },
  NO_SUCH_RESTART: { code: "NO_SUCH_RESTART" },
  NO_SUCH_BREAKPOINT: { code: "NO_SUCH_BREAKPOINT" },
  NO_SUCH_THREAD: { code: "STALE_STOP" },
};

/** Translates an error of the client into the refusal that agents know. Returns any other error unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error;
  const translation = TRANSLATIONS[error.code];
  if (error instanceof Refusal || translation === undefined) return error;
  const { code, message, next } = translation;
  if (message === undefined) return new Refusal(code, error.message, { cause: error });
  return new Refusal(code, message, { cause: error, remedy: `${error.message} ${next}` });
}
