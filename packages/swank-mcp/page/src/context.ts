import type { Act, Looks, PageCall, PageReply, PageState } from "../../src/page/model.js";

/** Why the server, or the way to it, did not do what was asked. */
export class PageError extends Error {
  override readonly name = "PageError";
  /** The server's code, or `UNREACHABLE`. */
  readonly code: string;
  readonly remedy: string | undefined;

  constructor(code: string, message: string, remedy?: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** The error of a rejected promise. */
export function pageError(reason: unknown): PageError {
  return reason instanceof PageError ? reason : new PageError("FAILED", String(reason));
}

/** The panels, in the order of their tabs. */
export const PANELS = ["timeline", "stops", "threads", "changes", "heap", "profile", "trace"] as const;

export type PanelName = (typeof PANELS)[number];

/** What a panel needs: each is a function of it that returns a template, and is called again after each change. */
export interface PageContext {
  readonly state: PageState;
  /** False if the page only reads, or if the server has ended. Then a panel shows nothing that acts. */
  readonly canAct: boolean;
  /** The name of the agent of a call, also of one that has left. */
  nameOf(call: Pick<PageCall, "agent" | "agentName">): string;
  /** Asks the server. Rejects with a {@link PageError}. */
  look<Name extends keyof Looks>(
    name: Name,
    args: Looks[Name]["args"],
    signal?: AbortSignal,
  ): Promise<Looks[Name]["result"]>;
  /** Acts, and shows the outcome as a notice. Never rejects. `quiet`: shows no notice, because the caller shows the outcome. */
  act(act: Act, options?: { readonly quiet?: boolean }): Promise<PageReply<string>>;
  /** Shows a sentence to the person for some seconds, or an error until it is closed. */
  notify(text: string, options?: { readonly isError?: boolean; readonly remedy?: string | undefined }): void;
  /** Shows the page again with the next frame of the screen, once for many calls. */
  update(): void;
  /** Goes to a panel. */
  open(panel: PanelName): void;
  /** Goes to a call in the timeline, and opens it. */
  openCall(id: string): void;
  /** Goes to a stop. */
  openStop(thread: number, level: number): void;
}
