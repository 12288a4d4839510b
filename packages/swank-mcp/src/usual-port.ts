import { readFile } from "node:fs/promises";
import { DEFAULT_PORT } from "./image-address.js";

/** Where Linux lists its TCP sockets. */
const SOCKET_TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENING = "0A";

/**
 * Whether something listens on Swank's usual port, as far as the system tells without connecting: a Swank started without `:dont-close`
 * serves one connection only, which must stay the user's.
 */
export async function isUsualPortTaken(): Promise<boolean> {
  const tables = await Promise.all(SOCKET_TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
  return tables.some((table) => table.split("\n").some((line) => isListening(line, DEFAULT_PORT)));
}

/** Fields of a line: number, local address and port, remote address and port, state, ..., in hexadecimal. */
function isListening(line: string, port: number): boolean {
  const [, local = "", , state] = line.trim().split(/\s+/);
  return state === LISTENING && Number.parseInt(local.split(":").at(-1) ?? "", 16) === port;
}
