import { createServer } from "node:net";

/** A local server that reads requests at the speed of the socket and answers each with nil. */
export class DrainServer {
  #server;

  /** @param {import("node:net").Server} server */
  constructor(server) {
    this.#server = server;
  }

  /** @returns {Promise<DrainServer>} */
  static async start() {
    const server = createServer((socket) => {
      const drain = new Drain((id) => socket.write(frame(`(:return (:ok nil) ${id})`)));
      socket.on("data", (chunk) => drain.take(chunk));
      socket.on("error", () => socket.destroy());
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return new DrainServer(server);
  }

  get port() {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The server does not listen.");
    return address.port;
  }

  /** @returns {Promise<void>} */
  stop() {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Counts the bytes of frames and decodes only the end of each. */
class Drain {
  #onRequest;
  #header = "";
  #missing = 0;
  #tail = "";

  /** @param {(id: string) => void} onRequest */
  constructor(onRequest) {
    this.#onRequest = onRequest;
  }

  /** @param {Buffer} chunk */
  take(chunk) {
    let rest = chunk;
    while (rest.length > 0) rest = this.#missing === 0 ? this.#readHeader(rest) : this.#skip(rest);
  }

  /** @param {Buffer} bytes */
  #readHeader(bytes) {
    const taken = bytes.subarray(0, 6 - this.#header.length);
    this.#header += taken.toString("latin1");
    if (this.#header.length === 6) {
      this.#missing = Number.parseInt(this.#header, 16);
      this.#header = "";
    }
    return bytes.subarray(taken.length);
  }

  /** @param {Buffer} bytes */
  #skip(bytes) {
    const taken = bytes.subarray(0, this.#missing);
    this.#missing -= taken.length;
    this.#tail = (this.#tail + taken.toString("latin1", Math.max(0, taken.length - 20))).slice(-20);
    if (this.#missing === 0) this.#onRequest(/ (\d+)\)$/.exec(this.#tail)?.[1] ?? "0");
    return bytes.subarray(taken.length);
  }
}

/** @param {string} payload ASCII */
function frame(payload) {
  return payload.length.toString(16).padStart(6, "0") + payload;
}
