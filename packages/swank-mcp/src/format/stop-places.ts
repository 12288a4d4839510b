import type { Stop } from "../image/lisp-port.js";
import { cutName, more } from "../text/cut.js";

/** Most stops that a text names. */
const MAX_PLACES = 10;

/** A stop as every answer names it, and as the argument `thread` takes it: `1/1`. */
export function placeName({ thread, level }: Pick<Stop, "thread" | "level">): string {
  return `${thread}/${level}`;
}

/** The last of some texts, after the number of those left out. */
export function lastPlaces(places: readonly string[]): string[] {
  const left = places.length - MAX_PLACES;
  return left > 0 ? [more(left, "stop"), ...places.slice(-MAX_PLACES)] : [...places];
}

/** The sentence that names the other stops after a thread has left its stop. */
export function nowStopped(stops: readonly Pick<Stop, "thread" | "level" | "condition">[]): string {
  if (stops.length === 0) return "No other thread of this session is stopped.";
  const places = stops.map((stop) => `${placeName(stop)} ${cutName(stop.condition.type)}`);
  return `Now stopped: ${lastPlaces(places).join(", ")}.`;
}
