import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { duplexTransport, type TransportFactory } from "swank-client";

/** The bytes of a framed payload, made without the code under test. */
export function frame(payload: string): Buffer {
  const bytes = Buffer.from(payload, "utf8");
  return Buffer.concat([Buffer.from(bytes.length.toString(16).toUpperCase().padStart(6, "0")), bytes]);
}

/** A request as the server sees it. */
export interface ReceivedRequest {
  readonly text: string;
  readonly form: string;
  readonly package: string;
  readonly thread: string;
  readonly id: number;
}

/**
 * The server's side of one connection, driven step by step by a test. It knows nothing of Lisp: it sends what it is told to, and records what
 * it gets.
 */
export class FakePeer {
  /** Every payload that came, oldest first. */
  readonly received: string[] = [];
  /** When the client says that it sends nothing more. */
  readonly ended: Promise<void>;
  /** When the stream is closed. */
  readonly closed: Promise<void>;
  readonly #stream: Duplex;
  readonly #untaken: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #reset: () => void;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes without which there is nothing more to read. */
  #wanted = 6;
  #staysOpen = false;
  #isClosed = false;

  /** @param reset - Breaks the connection so that the other end notices. */
  constructor(stream: Duplex, reset: () => void) {
    this.#stream = stream;
    this.#reset = reset;
    stream.on("data", (chunk: Buffer) => this.#onData(chunk));
    this.ended = new Promise((resolve) => {
      stream.once("end", () => {
        if (!this.#staysOpen) stream.end();
        resolve();
      });
    });
    // A test that resets the connection does not want to hear of it.
    stream.on("error", () => {});
    this.closed = new Promise((resolve) => {
      stream.once("close", () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** The client said that it sends nothing more. */
  get isEnded(): boolean {
    return this.#stream.readableEnded;
  }

  /** Bytes that could not be sent. */
  get unsentBytes(): number {
    return this.#stream.writableLength;
  }

  /** The next payload that contains `text` and was not taken before; fails when the connection closes first. */
  async next(text = ""): Promise<string> {
    for (;;) {
      const index = this.#untaken.findIndex((payload) => payload.includes(text));
      const [payload] = index < 0 ? [] : this.#untaken.splice(index, 1);
      if (payload !== undefined) return payload;
      if (this.#isClosed)
        throw new Error(`The client closed the connection before it sent ${text || "anything more"}.`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The next request whose form contains `text`. */
  async nextRequest(text = ""): Promise<ReceivedRequest> {
    const payload = await this.next(text);
    const match = /^\(:emacs-rex (.*) ("[^"]*"|nil) (\S+) (-?\d+)\)$/s.exec(payload);
    if (match === null) throw new Error(`Not a request: ${payload}`);
    const [, form = "", packageName = "", thread = "", id = ""] = match;
    return { text: payload, form, package: packageName, thread, id: Number(id) };
  }

  /** Sends payloads in one write. */
  send(...payloads: readonly string[]): void {
    this.sendBytes(Buffer.concat(payloads.map(frame)));
  }

  /** Answers a request. */
  returnOk(id: number, value: string): void {
    this.send(`(:return (:ok ${value}) ${id})`);
  }

  /** Answers a request that was unwound. */
  returnAbort(id: number, condition = "NIL"): void {
    this.send(`(:return (:abort "${condition}") ${id})`);
  }

  /** Sends bytes as they are, framed or not. */
  sendBytes(bytes: Uint8Array): void {
    this.#stream.write(bytes);
  }

  /** Sends payloads in pieces of `size` bytes, each arriving by itself. */
  async sendInPieces(size: number, ...payloads: readonly string[]): Promise<void> {
    const bytes = Buffer.concat(payloads.map(frame));
    for (let start = 0; start < bytes.length; start += size) {
      this.sendBytes(bytes.subarray(start, start + size));
      await tick();
    }
  }

  /** Ends the connection in good order. */
  end(): void {
    this.#stream.end();
  }

  /** Breaks the connection. */
  reset(): void {
    this.#reset();
  }

  /** Does not close when the client does, which Swank would. */
  stayOpen(): void {
    this.#staysOpen = true;
  }

  /** Stops reading, as a suspended Lisp does. */
  pause(): void {
    this.#stream.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#stream.resume();
  }

  #onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#wanted) this.#read(Buffer.concat(this.#chunks));
  }

  #read(bytes: Buffer): void {
    this.#wanted = 6 + Number.parseInt(bytes.toString("latin1", 0, 6), 16);
    if (bytes.length < this.#wanted) return;
    const payload = bytes.toString("utf8", 6, this.#wanted);
    const rest = bytes.subarray(this.#wanted);
    this.#chunks = [rest];
    this.#length = rest.length;
    this.#wanted = 6;
    this.received.push(payload);
    this.#untaken.push(payload);
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

/** A TCP server on a free port of the loopback interface whose connections are driven by the test. */
export class FakeSwank {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #peers: FakePeer[] = [];
  readonly #waiting: ((peer: FakePeer) => void)[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on("connection", (socket) => this.#onConnection(socket));
  }

  static async listen(): Promise<FakeSwank> {
    const server = createServer({ noDelay: true, allowHalfOpen: true }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    return new FakeSwank(server, address.port);
  }

  /** The next connection. */
  accept(): Promise<FakePeer> {
    const peer = this.#peers.shift();
    return peer === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(peer);
  }

  /** Connections that are open. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  /** When every connection is closed. */
  async allClosed(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => once(socket, "close")));
  }

  /** Stops listening and drops what is connected. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #onConnection(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const peer = new FakePeer(socket, () => socket.resetAndDestroy());
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#peers.push(peer);
    else waiting(peer);
  }
}

/** A connection without a network: the two ends of a pair of streams. */
export function inMemoryPeer(): { readonly peer: FakePeer; readonly factory: TransportFactory } {
  const [near, far] = duplexPair();
  // As a kernel would: when one end is gone, so is the other.
  near.once("close", () => far.destroy());
  const reset = () => void near.destroy(new Error("read ECONNRESET"));
  return { peer: new FakePeer(far, reset), factory: duplexTransport(near, "memory") };
}
