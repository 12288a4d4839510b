import { html, render } from "lit-html";
import type { PageEvent, PageState } from "../../src/page/model.js";

/** Shows the state as JSON whenever it is sent. */
function show(state: PageState): void {
  render(
    html`<main>
      <h1>Lisp <output id="image">${state.image.state}</output></h1>
      <pre>${JSON.stringify(state, undefined, 2)}</pre>
    </main>`,
    document.body,
  );
}

function readEvent(text: string): PageEvent {
  return JSON.parse(text);
}

const events = new EventSource("events");
events.addEventListener("message", ({ data }) => {
  const event = readEvent(data);
  if (event.type === "state") show(event.state);
});
