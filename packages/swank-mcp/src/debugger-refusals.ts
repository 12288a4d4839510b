import { Refusal, type RefusalCode } from "./refusal.js";

interface Translation {
  readonly code: RefusalCode;
  /** In place of the client's own message, which `next` then repeats: the contract has words of its own for these. */
  readonly message?: string;
  readonly next?: string;
}

/** What the client's errors are called where agents read them; all others keep their names. */
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

/** Does something with a stop or a breakpoint; what the client refuses, it refuses in the words of the contract. */
export async function inDebugger<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error;
  const translation = TRANSLATIONS[error.code];
  if (error instanceof Refusal || translation === undefined) return error;
  const { code, message, next } = translation;
  if (message === undefined) return new Refusal(code, error.message, { cause: error });
  return new Refusal(code, message, { cause: error, remedy: `${error.message} ${next}` });
}
