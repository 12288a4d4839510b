/** The keys that move in a list, and where to. */
const MOVES: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowDown: (index, last) => Math.min(index + 1, last),
  ArrowRight: (index, last) => Math.min(index + 1, last),
  ArrowUp: (index) => Math.max(index - 1, 0),
  ArrowLeft: (index) => Math.max(index - 1, 0),
  PageDown: (index, last) => Math.min(index + 10, last),
  PageUp: (index) => Math.max(index - 10, 0),
  Home: () => 0,
  End: (_, last) => last,
};

/**
 * Moves the focus among the elements of a list that have the attribute `data-rove`, for its `keydown` event. The Tab key reaches one of them only: the
 * list gives the others `tabindex="-1"`.
 */
export function rove(event: KeyboardEvent): void {
  const { currentTarget: list, target } = event;
  if (!(list instanceof HTMLElement && target instanceof HTMLElement && target.hasAttribute("data-rove"))) return;
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const items = [...list.querySelectorAll<HTMLElement>("[data-rove]")];
  const next = items[MOVES[event.key]?.(items.indexOf(target), items.length - 1) ?? -1];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Focuses an element that the next frame shows; call it after `update`. */
export function focusSoon(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
}

/** Whether the person writes in an element, so that keys belong to it. */
export function isWriting(element: unknown): boolean {
  return (
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    (element instanceof HTMLInputElement && element.type !== "checkbox" && element.type !== "radio")
  );
}
