import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { DirectCalls, type ReceivedCall, type SentCall } from "./direct-calls.js";
import { clearError, discoveryError } from "./invalid-requests.js";
import { cancelledId } from "./transport/message.js";

/** Listeners for a connection's events. */
export interface WireEvents {
  /** The transport has ended. */
  onClose(): void;
  /** An invalid message has come in, or a message could not be sent. */
  onError(error: Error): void;
}

/**
 * A transport that serves tool calls without the SDK, or hides a call's name and arguments from it, inside `arguments`. The SDK would answer
 * wrong ones with a protocol error that agents do not see; the tools refuse them instead.
 */
export class CallWire implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #transport: Transport;
  readonly #events: WireEvents;
  #direct: DirectCalls | undefined;

  constructor(transport: Transport, events: WireEvents) {
    this.#transport = transport;
    this.#events = events;
  }

  /** From now on, calls run without the SDK. Does nothing the second time: some clients send `notifications/initialized` again. */
  serveDirectly(run: (received: ReceivedCall) => Promise<object>): void {
    const send = (message: JSONRPCMessage) => this.#transport.send(message);
    this.#direct ??= new DirectCalls({ run, send, onError: (error) => this.#events.onError(error) });
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => this.#take(message, extra);
    transport.onclose = () => {
      this.#direct?.close();
      this.onclose?.();
      this.#events.onClose();
    };
    // Errors are reported only here: the SDK would report each twice.
    transport.onerror = (error) => this.#events.onError(error);
    await transport.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = "error" in message ? { ...message, error: clearError(message.error) } : message;
    return this.#transport.send(sent, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #take(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isCall(message)) {
      if (this.#direct === undefined) this.onmessage?.(hidden(message), extra);
      else this.#direct.take(message);
      return;
    }
    // A client that has begun with `initialize` is told that there is no such method.
    if (this.#direct === undefined && isRequest(message)) {
      const error = discoveryError(message.method, message.params, PROTOCOL_VERSION_META_KEY);
      if (error !== undefined) return void this.#refuse(message, error);
    }
    this.#direct?.cancel(cancelledId(message), cancellationReason(message));
    this.onmessage?.(message, extra);
  }

  #refuse({ jsonrpc, id }: Request, error: { readonly code: number; readonly message: string }): void {
    this.#transport.send({ jsonrpc, id, error }).catch((failure: Error) => this.#events.onError(failure));
  }
}

function isRequest(message: JSONRPCMessage): message is Request {
  return "method" in message && "id" in message;
}

function cancellationReason(message: JSONRPCMessage): unknown {
  return "params" in message ? message.params?.["reason"] : undefined;
}

type Request = Extract<JSONRPCMessage, { readonly id: unknown; readonly method: string }>;

function isCall(message: JSONRPCMessage): message is Request {
  return isRequest(message) && message.method === "tools/call";
}

function hidden(message: Request): Request {
  const { name, arguments: args, ...rest }: Record<string, unknown> = message.params ?? {};
  const call: SentCall = { name, arguments: args };
  return { ...message, params: { ...rest, name: "", arguments: { ...call } } };
}
