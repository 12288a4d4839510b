/**
 * The SDK counts its own requests from 0. Clients with version 1 of the SDK test the id of a cancelled request for truth, so they would go on asking the
 * first question after it was withdrawn. Clients therefore get each id plus 1.
 */
const SHIFT = 1;

/** A message as it is sent to the client. */
export function toClient<M extends object>(message: M): M {
  if (!("method" in message)) return message;
  if ("id" in message) return typeof message.id === "number" ? { ...message, id: message.id + SHIFT } : message;
  const params = "params" in message ? message.params : undefined;
  const isCancelled = message.method === "notifications/cancelled" && typeof params === "object" && params !== null;
  return isCancelled && "requestId" in params && typeof params.requestId === "number"
    ? { ...message, params: { ...params, requestId: params.requestId + SHIFT } }
    : message;
}

/** A message of the client as the SDK reads it. */
export function fromClient<M extends object>(message: M): M {
  return !("method" in message) && "id" in message && typeof message.id === "number"
    ? { ...message, id: message.id - SHIFT }
    : message;
}
