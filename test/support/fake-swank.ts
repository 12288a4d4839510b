import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { duplexTransport, type TransportFactory } from "swank-client/protocol";

/** Returns the bytes of a framed payload, independently of the code under test. */
export function frame(payload: string): Buffer {
  const bytes = Buffer.from(payload, "utf8");
  return Buffer.concat([Buffer.from(bytes.length.toString(16).toUpperCase().padStart(6, "0")), bytes]);
}

/** A request as the server receives it. */
export interface ReceivedRequest {
  readonly text: string;
  readonly form: string;
  readonly package: string;
  readonly thread: string;
  readonly id: number;
}

/**
 * The server's side of one connection, controlled by a test. It knows no Lisp: it sends what the test says and records what it receives.
 */
export class FakePeer {
  /** Every received payload, oldest first. */
  readonly received: string[] = [];
  /** Resolves when the client has closed its sending side. */
  readonly ended: Promise<void>;
  /** Resolves when the stream is closed. */
  readonly closed: Promise<void>;
  readonly #stream: Duplex;
  readonly #untaken: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #reset: () => void;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Number of bytes needed before the next read. */
  #wanted = 6;
  #staysOpen = false;
  #isClosed = false;

  /** @param reset - Breaks the connection so that the other end detects it. */
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
    // A test that resets the connection expects the error.
    stream.on("error", () => {});
    this.closed = new Promise((resolve) => {
      stream.once("close", () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** Whether the client has closed its sending side. */
  get isEnded(): boolean {
    return this.#stream.readableEnded;
  }

  /** Number of bytes not sent yet. */
  get unsentBytes(): number {
    return this.#stream.writableLength;
  }

  /** Returns the next payload that contains `text` and was not returned before. Fails if the connection closes first. */
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

  /** Returns the next request whose payload contains `text`. */
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

  /** Answers that a request was aborted. */
  returnAbort(id: number, condition = "NIL"): void {
    this.send(`(:return (:abort "${condition}") ${id})`);
  }

  /** Sends bytes as they are, framed or not. */
  sendBytes(bytes: Uint8Array): void {
    this.#stream.write(bytes);
  }

  /** Sends payloads in pieces of `size` bytes that arrive separately. */
  async sendInPieces(size: number, ...payloads: readonly string[]): Promise<void> {
    const bytes = Buffer.concat(payloads.map(frame));
    for (let start = 0; start < bytes.length; start += size) {
      this.sendBytes(bytes.subarray(start, start + size));
      await tick();
    }
  }

  /** Ends the connection regularly. */
  end(): void {
    this.#stream.end();
  }

  /** Breaks the connection. */
  reset(): void {
    this.#reset();
  }

  /** Keeps the connection open when the client closes it, unlike Swank. */
  stayOpen(): void {
    this.#staysOpen = true;
  }

  /** Stops reading, as a suspended Lisp does. */
  pause(): void {
    this.#stream.pause();
  }

  /** Resumes reading. */
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

/** A TCP server on a free loopback port whose connections the test controls. */
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

  /** Returns the next connection. */
  accept(): Promise<FakePeer> {
    const peer = this.#peers.shift();
    return peer === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(peer);
  }

  /** Number of open connections. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Resolves when every connection is closed. */
  async allClosed(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => once(socket, "close")));
  }

  /** Stops listening and drops all connections. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #onConnection(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // Node never closes a socket that is reset while its end is being sent: libuv refuses that with EINVAL.
    const peer = new FakePeer(socket, () => void (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy()));
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#peers.push(peer);
    else waiting(peer);
  }
}

/** Returns both ends of a connection in memory. */
export function inMemoryPeer(): { readonly peer: FakePeer; readonly factory: TransportFactory } {
  const [near, far] = duplexPair();
  // Like a kernel, closes the far end when the near end is closed.
  near.once("close", () => far.destroy());
  const reset = () => void near.destroy(new Error("read ECONNRESET"));
  return { peer: new FakePeer(far, reset), factory: duplexTransport(near, "memory") };
}
