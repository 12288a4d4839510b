import { html, type TemplateResult } from "lit-html";
import { PANELS, type PanelName } from "./context.js";
import { focusPrompt } from "./prompt.js";
import { focusQuestion } from "./questions.js";
import { focusSoon, isWriting } from "./roving.js";

/** Where the browser keeps that keys of one letter are off, for those who dictate to their computer. */
const STORE = "swank-keys";

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["1", "…", "7"], "go to a panel"],
  [["/"], "filter the timeline"],
  [["e"], "go to the prompt"],
  [["q"], "go to the oldest question"],
  [["↑", "↓", "Home", "End"], "move in a list"],
  [["Enter"], "open what is focused"],
  [["Esc"], "close what is open, or leave a field"],
  [["Ctrl", "Enter"], "in the prompt: evaluate"],
  [["↑", "↓"], "in the prompt: earlier and later code"],
  [["?"], "show these keys"],
];

const dialog = () => document.querySelector<HTMLDialogElement>("#keys");

export function showKeys(): void {
  dialog()?.showModal();
}

/** The list of keys, which `?` shows. */
export function keysView(): TemplateResult {
  const isOff = localStorage.getItem(STORE) === "off";
  const toggle = ({ currentTarget }: Event) => {
    if (currentTarget instanceof HTMLInputElement) localStorage.setItem(STORE, currentTarget.checked ? "on" : "off");
  };
  return html`<dialog id="keys" aria-labelledby="keys-title">
    <form method="dialog">
      <h2 id="keys-title">Keys</h2>
      <dl>${KEYS.map(([keys, what]) => html`<div><dt>${keys.map((key) => (key === "…" ? "… " : html`<kbd>${key}</kbd> `))}</dt><dd>${what}</dd></div>`)}</dl>
      <label class="check"><input type="checkbox" ?checked=${!isOff} @change=${toggle} /> Keys of one letter work</label>
      <button class="button primary" autofocus>Close</button>
    </form>
  </dialog>`;
}

/** The field in which the person writes. */
let field: HTMLElement | undefined;

/** Whether the field in which the person wrote has lost its place meanwhile, and what is typed is still meant for it. */
function isFieldGone(): boolean {
  const { activeElement } = document;
  return field !== undefined && (activeElement === null || activeElement === document.body) && !field.checkVisibility();
}

/** Listens to the keys that work everywhere, except where the person writes. */
export function listenToKeys(open: (panel: PanelName) => void): void {
  addEventListener("focusin", ({ target }) => {
    field = isWriting(target) && target instanceof HTMLElement ? target : undefined;
  });
  addEventListener("pointerdown", () => {
    field = undefined;
  });
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || dialog()?.open === true) return;
    if (isWriting(target)) {
      if (key === "Escape" && target instanceof HTMLElement) target.blur();
      if (key === "Escape") field = undefined;
      return;
    }
    if (key !== "Escape" && isFieldGone()) return;
    field = undefined;
    if (localStorage.getItem(STORE) === "off") return;
    const panel = PANELS[Number(key) - 1];
    const act =
      panel === undefined
        ? { "?": showKeys, e: focusPrompt, q: focusQuestion, "/": () => focusFilter(open) }[key]
        : () => open(panel);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

function focusFilter(open: (panel: PanelName) => void): void {
  open("timeline");
  focusSoon("#filter");
}
