import type { Act, Looks, PageEvent, PageReply, PageState } from "../../src/page/model.js";
import { act, Connection, look } from "./connection.js";
import { PANELS, type PageContext, type PanelName } from "./context.js";
import { news, reduce } from "./reduce.js";

/** `ok`: something was done. `news`: something has happened. */
type NoticeKind = "ok" | "news" | "error";

/** A sentence for the person. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly kind: NoticeKind;
  readonly remedy: string | undefined;
}

/** Milliseconds for which a notice is shown that is no error. */
const NOTICE_TIME = 7000;

/** Milliseconds of a frame after which the page rests, and most of the rest. */
const LONG_FRAME = 12;

const MOST_REST = 400;

/** Most notices at once. */
const MOST_NOTICES = 4;

/** What is told after an event, and after a choice of the person. */
export interface AppHooks {
  /** Shows the page. */
  readonly render: () => void;
  readonly onEvent: (event: PageEvent) => void;
  readonly openCall: (id: string) => void;
  readonly openStop: (thread: number, level: number) => void;
}

/** The page's state, what the person sees of it, and the way to the server. */
export class App {
  state: PageState | undefined;
  panel: PanelName = panelOf(location.hash) ?? "timeline";
  notices: readonly Notice[] = [];
  /** What a screen reader says. */
  announcement = "";
  readonly connection: Connection;
  readonly #hooks: AppHooks;
  #frame: number | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #restUntil = 0;
  #lastNotice = 0;
  readonly #names = new Map<string, string>();

  constructor(hooks: AppHooks) {
    this.#hooks = hooks;
    this.connection = new Connection(
      (event) => this.#take(event),
      () => this.update(),
    );
    addEventListener("hashchange", () => {
      this.panel = panelOf(location.hash) ?? this.panel;
      this.update();
    });
  }

  /** The context of the panels, once there is a state. */
  context(state: PageState): PageContext {
    return {
      state,
      canAct: !state.server.isReadOnly && this.connection.state !== "ended",
      nameOf: ({ agent, agentName }) => this.#names.get(agent) ?? agentName ?? agent,
      look: <Name extends keyof Looks>(name: Name, args: Looks[Name]["args"], signal?: AbortSignal) =>
        look(name, args, signal),
      act: (what, options) => this.#act(what, options?.quiet === true),
      notify: (text, options) => this.notify(text, options?.isError === true ? "error" : "ok", options?.remedy),
      update: () => this.update(),
      open: (panel) => this.open(panel),
      openCall: (id) => {
        this.#hooks.openCall(id);
        this.open("timeline");
      },
      openStop: (thread, level) => {
        this.#hooks.openStop(thread, level);
        this.open("stops");
      },
    };
  }

  open(panel: PanelName): void {
    this.panel = panel;
    history.replaceState(undefined, "", `#${panel}`);
    this.update();
  }

  /** Shows the page with the next frame. */
  update(): void {
    this.#frame ??= requestAnimationFrame((begun) => {
      this.#frame = undefined;
      this.#hooks.render();
      // What the browser does for the frame afterwards takes about as long again.
      const took = performance.now() - begun;
      this.#restUntil = performance.now() + (took < LONG_FRAME ? 0 : Math.min(MOST_REST, 3 * took));
    });
  }

  /** Shows the page soon. After a frame that took long it rests, so that a flood of events leaves time for what the person does. */
  #updateAfterRest(): void {
    const rest = this.#restUntil - performance.now();
    if (rest <= 0) this.update();
    else
      this.#rest ??= setTimeout(() => {
        this.#rest = undefined;
        this.update();
      }, rest);
  }

  notify(text: string, kind: NoticeKind = "ok", remedy?: string): void {
    this.#lastNotice += 1;
    const id = this.#lastNotice;
    this.notices = [...this.notices, { id, text, kind, remedy }].slice(-MOST_NOTICES);
    if (kind !== "error") setTimeout(() => this.dismiss(id), NOTICE_TIME);
    this.update();
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((notice) => notice.id !== id);
    this.update();
  }

  #take(event: PageEvent): void {
    const sentences = news(this.state, event);
    this.state = reduce(this.state, event);
    if (event.type === "state" || event.type === "agent") this.#learnNames();
    if (sentences.length > 0) this.announcement = sentences.join(" ");
    if (event.type === "question-gone") {
      const isAllowed = event.how.startsWith("allowed");
      for (const sentence of sentences) this.notify(sentence, isAllowed ? "ok" : "news");
    }
    this.#hooks.onEvent(event);
    const title = titleOf(this.state);
    if (document.title !== title) document.title = title;
    this.#updateAfterRest();
  }

  #learnNames(): void {
    for (const { id, name, isYou } of this.state?.agents ?? []) this.#names.set(id, isYou === true ? "You" : name);
  }

  async #act(what: Act, isQuiet: boolean): Promise<PageReply<string>> {
    const reply = await act(what);
    if (!isQuiet && reply.ok) this.notify(reply.value);
    if (!isQuiet && !reply.ok) this.notify(reply.error.message, "error", reply.error.remedy);
    return reply;
  }
}

function panelOf(hash: string): PanelName | undefined {
  return PANELS.find((name) => `#${name}` === hash);
}

/** The title, which also a tab in the background shows. */
function titleOf(state: PageState | undefined): string {
  if (state === undefined) return "Lisp";
  const { questions, stops, image } = state;
  const waiting = questions.length > 0 ? `? ${questions.length} · ` : stops.length > 0 ? `! ${stops.length} · ` : "";
  return `${waiting}${image.implementation ?? "Lisp"}`;
}
