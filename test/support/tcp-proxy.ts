import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy on this machine that can stop forwarding, as a tunnel that hangs: its connections stay open, and nothing passes. */
export class TcpProxy {
  readonly port: number;
  readonly #close: () => Promise<void>;
  readonly #pairs: Socket[][];
  /** Whether new connections are not forwarded either. */
  #isSilent = false;

  private constructor(port: number, pairs: Socket[][], close: () => Promise<void>) {
    this.port = port;
    this.#pairs = pairs;
    this.#close = close;
  }

  static async to(target: number): Promise<TcpProxy> {
    const pairs: Socket[][] = [];
    const server = createServer((socket) => {
      const other = connect(target, "127.0.0.1");
      const pair = [socket, other];
      pairs.push(pair);
      for (const end of pair) end.on("error", () => undefined);
      socket.pipe(other);
      other.pipe(socket);
      if (proxy.#isSilent) silence(pair);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
    const proxy = new TcpProxy(address.port, pairs, async () => {
      for (const end of pairs.flat()) end.destroy();
      server.close();
      await once(server, "close");
    });
    return proxy;
  }

  /** Forwards nothing more on the connections so far, and on new ones unless `forwardNew`. */
  stopForwarding({ forwardNew = false } = {}): void {
    this.#isSilent = !forwardNew;
    for (const pair of this.#pairs) silence(pair);
  }

  /** Forwards what waits, and everything from now on. */
  resume(): void {
    this.#isSilent = false;
    for (const [socket, other] of this.#pairs) {
      if (socket === undefined || other === undefined) continue;
      socket.pipe(other);
      other.pipe(socket);
    }
  }

  /** Ends the newest connection, e.g. one that has never been answered. */
  dropNewest(): void {
    for (const end of this.#pairs.at(-1) ?? []) end.destroy();
  }

  close(): Promise<void> {
    return this.#close();
  }
}

function silence(pair: readonly Socket[]): void {
  for (const end of pair) {
    end.unpipe();
    end.pause();
  }
}
