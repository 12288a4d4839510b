import type { types } from "swank-client";
import type { LispSession } from "./image.js";

/** Most forms that are kept, and most characters of all. */
const MAX_FORMS = 5000;

const MAX_CHARACTERS = 4_000_000;

const MAX_NAMES = 1000;

/** The session that has something; `undefined` if none has it. */
type Home = LispSession | undefined;

type Loaded = types.SessionForm["loaded"][number];

export interface KeptForm {
  readonly text: string;
  readonly package: string;
  readonly session: Home;
}

/** What evaluating the kept forms does not bring back. */
export interface LeftEffects {
  /** Beginnings of forms whose definitions cannot be told from what else they do. */
  readonly mixed: readonly string[];
  readonly assigned: readonly string[];
  readonly loaded: readonly Loaded[];
  /** The number of forms that were not kept, because there were too many. */
  readonly forgotten: number;
}

/** The forms by which the users' definitions can be made again, in the order in which they were evaluated. They outlast the image. */
export class KeptForms {
  #forms: KeptForm[] = [];
  #size = 0;
  readonly #mixed = new Map<string, Home>();
  readonly #assigned = new Map<string, Home>();
  readonly #loaded = new Map<string, Home>();
  readonly #kinds = new Map<string, Loaded["kind"]>();
  #forgotten = 0;
  /** The package of the latest session that was lost or replaced. */
  lastPackage: string | undefined;

  note({ text, kind, package: packageName, assigned, loaded }: types.SessionForm, session: LispSession): void {
    if (kind === "definition") this.keep({ text, package: packageName, session });
    if (kind === "mixed" && this.#mixed.size < MAX_NAMES) this.#mixed.set(text, session);
    for (const name of assigned) if (this.#assigned.size < MAX_NAMES) this.#assigned.set(name, session);
    for (const each of loaded) {
      if (this.#loaded.size === MAX_NAMES) break;
      this.#loaded.set(each.name, session);
      this.#kinds.set(each.name, each.kind);
    }
  }

  keep(form: KeptForm): void {
    this.#forms.push(form);
    this.#size += form.text.length;
    while (this.#forms.length > MAX_FORMS || (this.#size > MAX_CHARACTERS && this.#forms.length > 1)) {
      this.#size -= this.#forms.shift()?.text.length ?? 0;
      this.#forgotten += 1;
    }
  }

  /** Keeps a form that has failed in a session, which may have noted it: a form that does not return is noted, too. */
  keepFailed(form: KeptForm, session: LispSession): void {
    const noted = this.#forms.findLastIndex(
      ({ text, package: packageName, session: home }) =>
        text === form.text && packageName === form.package && home === session,
    );
    if (noted !== -1) this.#forms.splice(noted, 1);
    this.#size -= noted === -1 ? 0 : form.text.length;
    this.keep({ ...form, session: undefined });
  }

  get isEmpty(): boolean {
    return this.#forms.length === 0 && this.#mixed.size === 0;
  }

  /** Whether a session lacks definitions that an earlier one had. */
  areLostIn(session: Home): boolean {
    const isLost = (home: Home) => home === undefined || home !== session;
    return this.#forms.some((form) => isLost(form.session)) || [...this.#mixed.values()].some(isLost);
  }

  /** A session was reset: its definitions are gone. */
  lose(session: LispSession): void {
    this.#forms = this.#forms.map((form) => (form.session === session ? { ...form, session: undefined } : form));
    for (const homes of this.#named) for (const [name, home] of homes) if (home === session) homes.set(name, undefined);
  }

  /** Returns all forms, and forgets them: those that are evaluated again are noted again. */
  take(): readonly KeptForm[] {
    const taken = this.#forms;
    this.#forms = [];
    this.#size = 0;
    return taken;
  }

  leftIn(session: LispSession): LeftEffects {
    const lost = (homes: ReadonlyMap<string, Home>) =>
      [...homes].filter(([, home]) => home !== session).map(([name]) => name);
    return {
      mixed: lost(this.#mixed),
      assigned: lost(this.#assigned),
      loaded: lost(this.#loaded).map((name) => ({ name, kind: this.#kinds.get(name) ?? "file" })),
      forgotten: this.#forgotten,
    };
  }

  /** Keeps only what a session has, which is about to be reset. */
  keepOnly(session: LispSession): void {
    for (const form of this.take()) if (form.session === session) this.keep(form);
    for (const homes of this.#named) for (const [name, home] of homes) if (home !== session) homes.delete(name);
    this.#forgotten = 0;
  }

  get #named(): readonly Map<string, Home>[] {
    return [this.#mixed, this.#assigned, this.#loaded];
  }
}
