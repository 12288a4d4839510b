import { OptionError } from "./option.js";

/** The address of an image's Swank server. */
export interface ImageAddress {
  readonly host: string;
  readonly port: number;
}

/** Swank's default port (`swank::default-server-port`). */
export const DEFAULT_PORT = 4005;

/** A number instead of `localhost`, which a minimal container may not resolve. */
export const DEFAULT_HOST = "127.0.0.1";

/**
 * Reads `[HOST:]PORT`; IPv6 hosts are in brackets.
 *
 * @throws OptionError - when the text does not have that form.
 */
export function readAddress(text: string, source: string): ImageAddress {
  if (text === "") return { host: DEFAULT_HOST, port: DEFAULT_PORT };
  const match = /^(?:(?<host>\[[^\]]+\]|[^:[\]]+):)?(?<port>\d+)$/.exec(text);
  const port = Number(match?.groups?.["port"]);
  if (match === null || !(port >= 1 && port <= 65535)) {
    throw new OptionError(
      `${source} takes [HOST:]PORT, for example 4005 or 127.0.0.1:4005, not ${JSON.stringify(text)}.`,
    );
  }
  const host = match.groups?.["host"]?.replace(/^\[|\]$/g, "");
  return { host: host ?? DEFAULT_HOST, port };
}

export function addressText({ host, port }: ImageAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
