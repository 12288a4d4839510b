import { OptionError } from "./option.js";

/** Stands for any free port. */
const ANY_PORT = 0;

/**
 * Reads the port on which to share an image; an empty text stands for any free port.
 *
 * @throws OptionError - when the text is not a port.
 */
export function readSharePort(text: string, source: string): number {
  const port = text === "" ? ANY_PORT : Number(text);
  if (/^\d*$/.test(text) && port <= 65535) return port;
  throw new OptionError(
    `${source} takes a port, for example 4006, or nothing for any free one, not ${JSON.stringify(text)}.`,
  );
}
