import { render } from "lit-html";
import { App } from "./app.js";
import { listenInTurn } from "./background.js";
import { listenToKeys } from "./keys.js";
import { pageView } from "./layout.js";
import { callOfPrompt } from "./prompt.js";
import { leaveStops, selectStop } from "./stops.js";
import { followEnd, selectCall } from "./timeline.js";

/** Milliseconds between showings of times that pass. */
const TICK = 1000;

const app: App = new App({
  render: () => {
    if (app.panel !== "stops" || document.hidden) leaveStops();
    render(pageView(app), document.body);
    followEnd();
  },
  onEvent: (event) => {
    const isYou = (agent: string) => app.state?.agents.some(({ id, isYou }) => id === agent && isYou === true) === true;
    const call = callOfPrompt(event, isYou);
    if (call === undefined) return;
    selectCall(call);
    app.open("timeline");
  },
  openCall: selectCall,
  openStop: selectStop,
});

listenToKeys((panel) => app.open(panel));
app.update();
listenInTurn(app.connection);

document.addEventListener("visibilitychange", () => {
  if (document.hidden) leaveStops();
  else app.update();
});

// Times that pass are shown only while the page is seen.
setInterval(() => {
  const { state } = app;
  if (state === undefined || document.hidden) return;
  const isPassing =
    state.questions.length > 0 || state.stops.length > 0 || state.calls.some(({ ended }) => ended === undefined);
  if (isPassing) app.update();
}, TICK);
