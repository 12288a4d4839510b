/** What happened to the image or to stops since the last answer, to be said once, with the next answer that comes from Lisp. */
export class Notices {
  #pending: string[] = [];

  add(notice: string): void {
    this.#pending.push(notice);
  }

  /** Gives all notices and forgets them. */
  take(): readonly string[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }
}
