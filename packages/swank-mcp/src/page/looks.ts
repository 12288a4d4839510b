import type { types } from "swank-client";
import * as z from "zod";
import type { OnDefect } from "../base/log.js";
import { Refusal } from "../base/refusals.js";
import { explainHang, refuseIfHung, watchForSilence } from "../session/hung-image.js";
import type { LispSession } from "../session/image.js";
import type { LispClient } from "../session/lisp-port.js";
import { sourceOf } from "./frame-source.js";
import type { Looks, PageCallText, PageFrame, PageReply, PageVariable } from "./model.js";
import { PageRefusal, readWith, replyWith } from "./reply.js";
import type { PageStops } from "./stops.js";

/** Frames, and parts of an object, in one answer. */
const FRAMES = 20;

const PARTS = 50;

/** Frames of each thread in the list of threads. */
const THREAD_FRAMES = 12;

/** Types in a summary of the heap. */
const TYPES = 60;

/** Most seconds for which the program is watched. */
const MOST_SECONDS = 120;

/** What looks are taken with. */
export interface LookSources {
  /** The page's own session with the image. @throws PageRefusal `NO_IMAGE`, and the errors of `ImageHost.session`. */
  session(signal: AbortSignal): Promise<LispSession>;
  /** The whole of a call. @throws PageRefusal if it is not kept. */
  callText(id: string): PageCallText;
  readonly stops: PageStops;
  /** Whether the page only reads. */
  readonly isReadOnly: boolean;
  readonly onDefect: OnDefect;
}

interface Asked extends Pick<LookSources, "stops"> {
  readonly session: LispSession;
  readonly client: LispClient;
  readonly signal: AbortSignal;
}

type LookName = Exclude<keyof Looks, "call">;

type Look<Name extends LookName> = (given: unknown, asked: Asked) => Promise<Looks[Name]["result"]>;

/** A look with checked arguments. */
function look<Result, Schema extends z.ZodType>(
  schema: Schema,
  answer: (args: z.output<Schema>, asked: Asked) => Promise<Result>,
): (given: unknown, asked: Asked) => Promise<Result> {
  return async (given, asked) => answer(readWith(schema, given), asked);
}

const index = z.int().min(0);

const ofStop = { thread: index, level: z.int().min(1) };

const callArguments = z.strictObject({ id: z.string() });

const watchedSeconds = z.number().positive().max(MOST_SECONDS);

const LOOKS: { readonly [Name in LookName]: Look<Name> } = {
  stop: look(z.strictObject(ofStop), async ({ thread, level }, { session, stops }) => {
    const stop = await stops.find(session, thread, level);
    const page = await stop.frames(0, FRAMES);
    return { stop: stops.data(stop), slots: stop.condition.slots, ...framesOf(page) };
  }),
  frames: look(z.strictObject({ ...ofStop, start: index }), async ({ thread, level, start }, { session, stops }) => {
    const stop = await stops.find(session, thread, level);
    return framesOf(await stop.frames(start, start + FRAMES));
  }),
  frame: look(z.strictObject({ ...ofStop, frame: index }), async (args, { session, stops, client, signal }) => {
    const stop = await stops.find(session, args.thread, args.level);
    const { frames, totalFrames } = await stop.frames(args.frame, args.frame + 1);
    const frame = frames.find((each) => each.index === args.frame);
    if (frame === undefined)
      throw new Refusal(
        "INVALID_FRAME",
        `There is no frame ${args.frame}; the stack has frames 0 to ${totalFrames - 1}.`,
      );
    const source = await sourceOf(frame, client, signal);
    return { variables: frame.locals.map(variableOf), ...(source === undefined ? {} : { source }) };
  }),
  object: look(z.strictObject({ id: index, start: index }), ({ id, start }, { client, signal }) =>
    client.program.inspectObject(id, { start, count: PARTS, signal }),
  ),
  threads: look(z.strictObject({ frames: z.boolean().optional() }), ({ frames = false }, { client, signal }) =>
    client.program.threads({ frames: frames ? THREAD_FRAMES : 0, signal }),
  ),
  changes: look(z.strictObject({}), (_, { client, signal }) => client.code.listChanges({ signal })),
  // A full collection would pause the program each time that somebody looks.
  heap: look(z.strictObject({}), (_, { client, signal }) =>
    client.program.heap.summary({ collect: false, limit: TYPES, signal }),
  ),
  profile: look(
    z.strictObject({ seconds: watchedSeconds, mode: z.enum(["cpu", "alloc"]) }),
    ({ seconds, mode }, { client, signal }) =>
      client.program.profile({ seconds }, { mode, stacks: true, signal }).result(),
  ),
  trace: look(
    z.strictObject({ functions: z.array(z.string().min(1)).min(1), seconds: watchedSeconds }),
    ({ functions, seconds }, { client, signal }) =>
      client.program.traceCalls({ seconds }, { functions, signal }).result(),
  ),
};

/** Answers the page's questions. None changes anything in the image but a trace, which changes functions while it lasts. */
export class PageLooks {
  readonly #sources: LookSources;

  constructor(sources: LookSources) {
    this.#sources = sources;
  }

  /**
   * Answers `{ look: NAME, ...arguments }`. Never rejects.
   *
   * @param signal - Aborted when nobody waits for the answer any more.
   */
  answer(sent: unknown, signal: AbortSignal): Promise<PageReply<unknown>> {
    return replyWith(() => this.#answer(sent, signal), this.#sources.onDefect);
  }

  async #answer(sent: unknown, signal: AbortSignal): Promise<unknown> {
    const { look: name, ...given } = readWith(z.looseObject({ look: z.string() }), sent);
    if (name === "call") return this.#sources.callText(readWith(callArguments, given).id);
    if (!isLook(name)) throw new PageRefusal("INVALID_ARGUMENTS", `There is no look ${JSON.stringify(name)}.`);
    if (name === "trace" && this.#sources.isReadOnly)
      throw new PageRefusal("READ_ONLY", "This page only shows, and a trace changes functions while it lasts.");
    const session = await this.#sources.session(signal);
    const { stops } = this.#sources;
    return askImage<unknown>(session, signal, () =>
      LOOKS[name](given, { session, client: session.client, stops, signal }),
    );
  }
}

function isLook(name: string): name is LookName {
  return Object.hasOwn(LOOKS, name);
}

/**
 * Asks the image, unless it hangs.
 *
 * @throws Refusal `IMAGE_HANGS` as soon as that is known; the errors of `ask`.
 */
export async function askImage<T>(session: LispSession, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  await refuseIfHung(session);
  const watch = watchForSilence(() => session);
  try {
    return await Promise.race([ask(), watch.silent]);
  } catch (error) {
    throw await explainHang(error, session, signal);
  } finally {
    watch.end();
  }
}

function framesOf({ frames, totalFrames }: types.FramePage) {
  return {
    frames: frames.map(
      ({ index, call, kind, restartable }): PageFrame => ({ index, call, kind, isRestartable: restartable }),
    ),
    totalFrames,
  };
}

function variableOf({ name, value, marks, objectId }: types.Variable): PageVariable {
  return { name, value, marks, ...(objectId === undefined ? {} : { objectId }) };
}
