import type { JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions } from "@modelcontextprotocol/server";

/** Listeners for a connection's events. */
export interface WireEvents {
  /** The transport has ended. */
  onClose(): void;
  /** An invalid message has come in, or a message could not be sent. */
  onError(error: Error): void;
}

/**
 * A transport that hides a tool call's name and arguments from the SDK, inside `arguments`. The SDK would answer wrong ones with a
 * protocol error that agents do not see; the tools refuse them instead.
 */
export class HidingWire implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #transport: Transport;
  readonly #events: WireEvents;

  constructor(transport: Transport, events: WireEvents) {
    this.#transport = transport;
    this.#events = events;
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) =>
      this.onmessage?.(hidden(message), extra);
    transport.onclose = () => {
      this.onclose?.();
      this.#events.onClose();
    };
    // Errors are reported only here: the SDK would report each twice.
    transport.onerror = (error) => this.#events.onError(error);
    await transport.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#transport.send(message, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** The hidden part of a tool call. */
export interface HiddenCall {
  readonly name?: unknown;
  readonly arguments?: unknown;
}

function hidden(message: JSONRPCMessage): JSONRPCMessage {
  if (!("method" in message) || message.method !== "tools/call") return message;
  const { name, arguments: args, ...rest }: Record<string, unknown> = message.params ?? {};
  const call: HiddenCall = { name, arguments: args };
  return { ...message, params: { ...rest, name: "", arguments: { ...call } } };
}
