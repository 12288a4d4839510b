import { DEFAULT_PORT } from "../../cli/image-address.js";

/** Linux's tables of TCP sockets. */
const SOCKET_TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENING = "0A";

/**
 * Whether a program listens on Swank's usual port. Reads the system's tables instead of connecting: a Swank started without
 * `:dont-close` serves only one connection, which must be the user's.
 */
export async function isUsualPortTaken(): Promise<boolean> {
  // Node takes a millisecond to load this module, which the start does not need.
  const { readFile } = await import("node:fs/promises");
  const tables = await Promise.all(SOCKET_TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
  return tables.some((table) => table.split("\n").some((line) => isListening(line, DEFAULT_PORT)));
}

/** Reads a line with the hexadecimal fields number, local address and port, remote address and port, state, and more. */
function isListening(line: string, port: number): boolean {
  const [, local = "", , state] = line.trim().split(/\s+/);
  return state === LISTENING && Number.parseInt(local.split(":").at(-1) ?? "", 16) === port;
}
