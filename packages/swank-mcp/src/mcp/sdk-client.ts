import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { oneLine } from "../text/cut.js";

/** Most characters of a client's name in the log. */
const MAX_NAME = 300;

const capabilitiesSchema = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
});
const infoSchema = z.looseObject({ name: z.string(), version: z.string() });

/** A client's name and version, from `initialize` or from every request. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Whether a client with these capabilities can show its user forms. A client that names no kind of elicitation supports forms. */
export function canAsk(capabilities: unknown): boolean {
  const { elicitation } = capabilitiesSchema.safeParse(capabilities).data ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The only revision in which every request names its own. */
const MODERN_REVISION = "2026-07-28";

/**
 * Checks the revision of a request, which the SDK does only until a connection has its first call.
 *
 * @throws UnsupportedProtocolVersionError
 */
export function checkRevision({ mcpReq }: ServerContext): void {
  const requested = envelope(mcpReq)[PROTOCOL_VERSION_META_KEY];
  if (requested === MODERN_REVISION) return;
  throw new UnsupportedProtocolVersionError({ supported: [MODERN_REVISION], requested: String(requested) });
}

/** Capabilities that a request of protocol revision 2026-07-28 names. */
export function namedCapabilities({ mcpReq }: ServerContext): unknown {
  return envelope(mcpReq)[CLIENT_CAPABILITIES_META_KEY];
}

/** Client that a request of protocol revision 2026-07-28 names. */
export function namedClient({ mcpReq }: ServerContext): ClientInfo | undefined {
  return infoSchema.safeParse(envelope(mcpReq)[CLIENT_INFO_META_KEY]).data;
}

/** A client as the log names it. */
export function clientText(client: ClientInfo | undefined): string {
  return oneLine(client === undefined ? "unnamed" : `${client.name} ${client.version}`, MAX_NAME);
}

function envelope({ envelope: given }: ServerContext["mcpReq"]): Readonly<Record<string, unknown>> {
  return { ...given };
}
