import type { Act, Looks, PageEvent, PageReply } from "../../src/page/model.js";
import { PageError, pageError } from "./context.js";

/** `ended`: no server has answered for some seconds; the page goes on trying. */
export type Connectedness = "connecting" | "live" | "reconnecting" | "ended";

/** Milliseconds without an answer after which the page says that the server has ended. */
const PATIENCE = 4000;

/** Milliseconds between attempts after the server refused one, which ends an `EventSource`. */
const PAUSE = 3000;

/** The events of the server. The browser reconnects, and then says the last event that it has got. */
export class Connection {
  state: Connectedness = "connecting";
  readonly #onEvent: (event: PageEvent) => void;
  readonly #onState: () => void;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #events: EventSource | undefined;

  constructor(onEvent: (event: PageEvent) => void, onState: () => void) {
    this.#onEvent = onEvent;
    this.#onState = onState;
    this.open();
  }

  /** Begins to listen, unless it does: the server first sends the state. */
  open(): void {
    if (this.#events === undefined) this.#connect();
  }

  /** Stops listening. */
  close(): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#retry);
    this.#patience = undefined;
    this.#events?.close();
    this.#events = undefined;
  }

  #connect(): void {
    const events = new EventSource("events");
    this.#events = events;
    events.addEventListener("message", ({ data }) => this.#onEvent(readEvent(String(data))));
    events.addEventListener("open", () => {
      clearTimeout(this.#patience);
      this.#patience = undefined;
      this.#become("live");
    });
    events.addEventListener("error", () => {
      if (this.state !== "ended") this.#become("reconnecting");
      this.#patience ??= setTimeout(() => this.#become("ended"), PATIENCE);
      if (events.readyState === EventSource.CLOSED) this.#retry = setTimeout(() => this.#connect(), PAUSE);
    });
  }

  #become(state: Connectedness): void {
    this.state = state;
    this.#onState();
  }
}

function readEvent(text: string): PageEvent {
  return JSON.parse(text);
}

/** Asks the server. Rejects with a {@link PageError}. */
export async function look<Name extends keyof Looks>(
  name: Name,
  args: Looks[Name]["args"],
  signal?: AbortSignal,
): Promise<Looks[Name]["result"]> {
  const reply = await post<Looks[Name]["result"]>("look", { ...args, look: name }, signal);
  if (reply.ok) return reply.value;
  const { code, message, remedy } = reply.error;
  throw new PageError(code, message, remedy);
}

/** Acts. Never rejects. */
export async function act(what: Act): Promise<PageReply<string>> {
  try {
    return await post<string>("act", what);
  } catch (reason) {
    const { code, message, remedy } = pageError(reason);
    return { ok: false, error: { code, message, ...(remedy === undefined ? {} : { remedy }) } };
  }
}

async function post<Result>(path: string, body: object, signal?: AbortSignal): Promise<PageReply<Result>> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: signal ?? null,
  }).catch(unreachable);
  if (response.ok) return response.json();
  const text = (await response.text()).trim();
  throw new PageError("REFUSED", text === "" ? `The server answers ${response.status}.` : text);
}

function unreachable(): never {
  throw new PageError(
    "UNREACHABLE",
    "The server does not answer.",
    "Start it again, and open the address that it prints.",
  );
}
