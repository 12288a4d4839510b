import { readConfig } from "swank-mcp";
import * as z from "zod";
import type { Looks, PageReply } from "#swank-mcp/page/model.js";
import { ImageHost } from "#swank-mcp/session/image.js";
import { openUnnamed } from "#swank-mcp/session/open-image.js";

/** Returns the host of a page's own session with the image on this port. */
export function pageHost(port: number): ImageHost {
  const address = { host: "127.0.0.1", port };
  const config = readConfig(["--attach", String(port), "--foreign-errors", "theirs"], {});
  return new ImageHost(openUnnamed(address, config, () => undefined));
}

/** The answer to a look, as the page in the browser reads it from JSON. */
export type Answer<Name extends keyof Looks> = Looks[Name]["result"];

/** Returns the value of a reply, which must be one, as the model says it is. */
export function resultOf<Value>(reply: PageReply<unknown>): Value {
  if (!reply.ok) throw new Error(`${reply.error.code}: ${reply.error.message}`);
  return z.custom<Value>().parse(reply.value);
}

/** Returns the code of the error that a reply must have. */
export function codeOf(reply: PageReply<unknown>): string {
  if (reply.ok) throw new Error(`An error was expected, not ${JSON.stringify(reply.value)}.`);
  return reply.error.code;
}
