/** How often a panel asks again, and what its fields contain. */

/** Calls a function regularly, as long as an element is on the page and the page is visible. */
export class Repeater {
  readonly #id: string;
  #timer: number | undefined;

  /** @param id - That of the element. */
  constructor(id: string) {
    this.#id = id;
  }

  /** Called by each rendering. The first one since the element was on the page calls `begin`. */
  rendered(seconds: number, begin: () => void, tick: () => void): void {
    if (this.#timer !== undefined) return;
    this.#wait(seconds, tick);
    begin();
  }

  #wait(seconds: number, tick: () => void): void {
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      if (document.getElementById(this.#id) === null) return;
      this.#wait(seconds, tick);
      if (!document.hidden) tick();
    }, seconds * 1000);
  }
}

/** The text in an input field or list. */
export function textOf({ target }: Event): string {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement ? target.value : "";
}

/** The number in an input field, within its limits, or the usual one. */
export function numberOf(event: Event, least: number, most: number, usual: number): number {
  const text = textOf(event).trim();
  const number = Number(text);
  return text === "" || !Number.isFinite(number) ? usual : Math.min(most, Math.max(least, number));
}
