import type { PageAgent, PageCall, PageEvent, PageState } from "../../src/page/model.js";

/** Most calls that the page keeps, as many as a snapshot of the server has. */
export const MOST_CALLS = 1000;

/** Most characters of output that it keeps of each. */
export const MOST_OUTPUT = 2000;

/** What the page knows after an event. Before the first snapshot it knows nothing, and other events say too little. */
export function reduce(state: PageState | undefined, event: PageEvent): PageState | undefined {
  if (event.type === "state") return withinBounds(event.state);
  return state && reduceKnown(state, event);
}

function reduceKnown(state: PageState, event: PageEvent): PageState {
  switch (event.type) {
    case "state":
      return event.state;
    case "image":
      return { ...state, image: event.image };
    case "agent":
      return { ...state, agents: replaced(state.agents, event.agent) };
    case "agent-gone":
      return { ...state, agents: state.agents.filter(({ id }) => id !== event.id) };
    case "call":
      return withinBounds({ ...state, calls: replaced(state.calls, event.call) });
    case "output":
      return withOutput(state, event.call, event.text);
    case "stops":
      return { ...state, stops: event.stops };
    case "question":
      return {
        ...state,
        questions: [...state.questions.filter(({ number }) => number !== event.question.number), event.question],
      };
    case "question-gone":
      return { ...state, questions: state.questions.filter(({ number }) => number !== event.number) };
  }
}

/** Replaces the item with the same id, or adds it at the end. Late items change most, so the search starts there. */
function replaced<Item extends PageAgent | PageCall>(items: readonly Item[], item: Item): readonly Item[] {
  const index = items.findLastIndex(({ id }) => id === item.id);
  return index < 0 ? [...items, item] : items.with(index, item);
}

/** Forgets the oldest calls that have ended, as the server does, or else the oldest of all. */
function withinBounds(state: PageState): PageState {
  let excess = state.calls.length - MOST_CALLS;
  if (excess <= 0) return state;
  const forgotten = state.forgotten + excess;
  const calls = state.calls.filter(({ ended }) => {
    const isForgotten = excess > 0 && ended !== undefined;
    if (isForgotten) excess -= 1;
    return !isForgotten;
  });
  return { ...state, calls: calls.slice(-MOST_CALLS), forgotten };
}

function withOutput(state: PageState, id: string, text: string): PageState {
  const index = state.calls.findLastIndex((call) => call.id === id);
  const call = state.calls[index];
  if (call === undefined) return state;
  const output = text.length >= MOST_OUTPUT ? text.slice(-MOST_OUTPUT) : (call.output + text).slice(-MOST_OUTPUT);
  return { ...state, calls: state.calls.with(index, { ...call, output }) };
}

/** What a person who does not look at the page should hear of an event: questions, new stops, and the loss of the image. */
export function news(before: PageState | undefined, event: PageEvent): readonly string[] {
  if (before === undefined) return [];
  switch (event.type) {
    case "question":
      return [`${event.question.agent} asks to ${event.question.action}.`];
    case "question-gone": {
      const question = before.questions.find(({ number }) => number === event.number);
      return question === undefined ? [] : [`The question of ${question.agent} to ${question.action}: ${event.how}.`];
    }
    case "stops": {
      const known = new Set(before.stops.map(stopKey));
      const fresh = event.stops.filter((stop) => !known.has(stopKey(stop)));
      return fresh.map(({ thread, type }) => `Thread ${thread} stopped: ${type}.`);
    }
    case "image":
      return event.image.state === "lost" && before.image.state !== "lost"
        ? [`The image is lost. ${event.image.why ?? ""}`.trim()]
        : [];
    default:
      return [];
  }
}

/** Names a stop of a thread: another one has begun at another time. */
export function stopKey(stop: { readonly thread: number; readonly level: number; readonly since: number }): string {
  return `${stop.thread}/${stop.level}/${stop.since}`;
}
