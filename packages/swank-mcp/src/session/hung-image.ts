import { SwankError } from "swank-client";
import type { Silence } from "swank-client/protocol";
import { Refusal } from "../base/refusals.js";
import type { ImageOrigin, LispSession } from "./image.js";

/** Causes that cannot be told apart from outside the image. */
const CAUSES =
  "What it waits for is not known. One cause is a thread that holds a lock that Swank needs for each message, such as its mailbox lock, for example because it is stopped";

/** How a person finds the holder of the mailbox lock (in Slynk, of SLY, `slynk-sbcl`). Emacs itself cannot be used: it needs the server, too. */
const FIND_HOLDER =
  "(sb-thread:mutex-owner swank/sbcl::*mailbox-lock*), with SLY (sb-thread:mutex-owner slynk-sbcl::*mailbox-lock*), shows the thread that holds the mailbox lock, and sb-thread:terminate-thread ends that thread";

const REMEDIES: Readonly<Record<ImageOrigin["kind"], string>> = {
  own: `It may be busy: wait, then call again. If it still does not answer, call reset-session: it replaces the image with a fresh one. Definitions in this image are lost. ${CAUSES}.`,
  attached: `The image belongs to the user, and this server cannot free it. Ask the user to interrupt it at its own terminal (in Emacs, C-c C-c in *inferior-lisp*) and to undo the latest definition, such as a PRINT-OBJECT method, or to restart it. ${CAUSES}: at that terminal, ${FIND_HOLDER}.`,
};

const SILENT_REMEDY = `The image may be suspended, hang or be very busy, or the network or a tunnel to it may be down; this server cannot tell which. Ask the user to check the image and the connection to it. Until something arrives, calls are refused at once; then call again. ${CAUSES}: at the image's own terminal (in Emacs, *inferior-lisp*), ${FIND_HOLDER}.`;

const LOCKED_REMEDY =
  "Ask the user to let that thread continue, or to end it; if it is stopped, to resume or abort the stop in the client that has it. The connection and its stops are kept. Until the lock is released, calls are refused at once; then call again.";

const BUSY_REMEDIES: Readonly<Record<ImageOrigin["kind"], string>> = {
  own: "Wait until that thread has released the lock, then call again. If it never does, call reset-session: it replaces the image with a fresh one. Definitions in this image are lost.",
  attached:
    "Wait until that thread has released the lock, then call again. If it never does, ask the user to end it. The connection and its stops are kept.",
};

const LONG_CALL = 4000;

export interface Hang {
  readonly message: string;
  readonly remedy: string;
}

function silentHang({ text, isLocked }: Silence, { origin }: LispSession): Hang {
  const unknown = origin.kind === "own" ? REMEDIES.own : SILENT_REMEDY;
  return { message: text, remedy: isLocked ? LOCKED_REMEDY : unknown };
}

/**
 * Finds out whether the image hangs: whether it does not answer even a small request within `ANSWER_TIME`, or its connection is silent.
 * A connection that turns out to be dead is closed.
 *
 * @returns `undefined` if the image answers, or the connection is closed.
 */
export async function findHang(session: LispSession, signal: AbortSignal): Promise<Hang | undefined> {
  const silence = await session.check?.run();
  if (silence !== undefined) return silentHang(silence, session);
  if (!session.client.isOpen || !(await session.directory(signal).then(() => false, isUnanswered))) return undefined;
  return unansweredHang(session);
}

const DEAF_REMEDIES: Readonly<Record<ImageOrigin["kind"], string>> = {
  own: "Other evaluations can run meanwhile, unless they wait for this one or for the garbage collector. If it does not end by itself, call reset-session: it replaces the image with a fresh one, without its definitions.",
  attached:
    "Other evaluations can run meanwhile, unless they wait for this one or for the garbage collector. If it does not end by itself, only a restart of the image ends it, and the image belongs to the user: ask the user.",
};

/** What can be done about an evaluation that reacts to nothing in an image that answers. */
export function deafRemedy({ origin }: LispSession): string {
  return DEAF_REMEDIES[origin.kind];
}

/** The hang of an image that has not answered `directory`. */
export async function hangOf(session: LispSession): Promise<Hang> {
  const silence = await session.check?.run();
  return silence === undefined ? unansweredHang(session) : silentHang(silence, session);
}

/** The hang of requests that wait for a lock; `undefined` if none is known to. */
async function lockHang(session: LispSession): Promise<Hang | undefined> {
  const lock = session.client.isOpen ? await session.awaitedLock() : undefined;
  if (lock === undefined) return undefined;
  return { message: `Requests to the image wait for ${lock}.`, remedy: BUSY_REMEDIES[session.origin.kind] };
}

/** The hang of an image that serves the connection, but does not answer `directory` on it. */
async function unansweredHang(session: LispSession): Promise<Hang> {
  const { origin } = session;
  const locked = await lockHang(session);
  if (locked !== undefined) return locked;
  return { message: "The image does not answer other requests either.", remedy: REMEDIES[origin.kind] };
}

/** The hang that an earlier check found, if nothing has arrived since. */
export async function knownHang(session: LispSession): Promise<Hang | undefined> {
  const silence = await session.check?.known();
  return silence === undefined ? undefined : silentHang(silence, session);
}

/** @throws Refusal `IMAGE_HANGS` if an earlier check found that the image hangs, and nothing has arrived since. */
export async function refuseIfHung(session: LispSession): Promise<void> {
  const hang = await knownHang(session);
  if (hang !== undefined) throw hangRefusal(hang);
}

/**
 * Replaces a timeout by the refusal `IMAGE_HANGS` if the image hangs, or by the reason of its end if the connection was dead. Returns any
 * other error unchanged.
 */
export async function explainHang(error: unknown, session: LispSession, signal: AbortSignal): Promise<unknown> {
  if (!isUnanswered(error)) return error;
  const hang = (await findHang(session, signal)) ?? (await lockHang(session));
  if (hang !== undefined) return hangRefusal(hang, error);
  return session.client.isOpen ? error : session.client.closed;
}

/** Watches a long call. `silent` rejects with the refusal when a check finds the image silent, and never settles otherwise. `end` must be called. */
export function watchForSilence(session: () => LispSession | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<never>((_, reject) => {
    const look = async () => {
      const watched = session();
      const silence = await watched?.check?.run();
      if (watched !== undefined && silence !== undefined) reject(hangRefusal(silentHang(silence, watched)));
    };
    timer = setTimeout(() => void look(), LONG_CALL).unref();
  });
  silent.catch(() => undefined);
  return { silent, end: () => clearTimeout(timer) };
}

function hangRefusal({ message, remedy }: Hang, unanswered?: unknown): Refusal {
  const whole = unanswered instanceof Error ? `${unanswered.message} ${message}` : message;
  return new Refusal("IMAGE_HANGS", whole, { remedy, cause: unanswered });
}

export function isUnanswered(error: unknown): boolean {
  return error instanceof SwankError && error.code === "REQUEST_TIMEOUT";
}
