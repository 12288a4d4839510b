import { Connection, type ConnectionOptions, type SwankMessage, tcpOpener } from "swank-client/protocol";
import { type FakePeer, FakeSwank, inMemoryPeer } from "./fake-swank.js";

/** A connection and the scripted server at its other end. */
export interface FakeConnection {
  readonly connection: Connection;
  readonly peer: FakePeer;
  /** Closes both ends, whatever state the test left them in. */
  release(): Promise<void>;
}

/** How the two ends are connected. */
export type Joint = "TCP" | "memory";

export const JOINTS: readonly Joint[] = ["TCP", "memory"];

export async function fakeConnection(joint: Joint, options?: ConnectionOptions): Promise<FakeConnection> {
  return joint === "TCP" ? overTcp(options) : inMemory(options);
}

async function overTcp(options: ConnectionOptions | undefined): Promise<FakeConnection> {
  const server = await FakeSwank.listen();
  const open = tcpOpener({ port: server.port });
  const connection = new Connection(await open(), options);
  const peer = await server.accept();
  const release = async () => {
    await server.close();
    await connection.close();
  };
  return { connection, peer, release };
}

function inMemory(options: ConnectionOptions | undefined): FakeConnection {
  const { peer, factory } = inMemoryPeer();
  const connection = new Connection(factory, options);
  const release = async () => {
    peer.reset();
    await connection.close();
  };
  return { connection, peer, release };
}

/** Defines a test for each kind of connection, which is closed afterwards. */
export function onBothJoints(
  title: string,
  test: (fake: FakeConnection) => Promise<void>,
  options?: () => ConnectionOptions,
): void {
  for (const joint of JOINTS) {
    it(`${title} (${joint})`, async () => {
      const fake = await fakeConnection(joint, options?.());
      try {
        await test(fake);
      } finally {
        await fake.release();
      }
    });
  }
}

/** Collects the messages up to and including the first of type `last`. */
export function collectUntil(connection: Connection, last: SwankMessage["type"]): Promise<SwankMessage[]> {
  const messages: SwankMessage[] = [];
  return new Promise((resolve) => {
    const stop = connection.on("event", (message) => {
      messages.push(message);
      if (message.type !== last) return;
      stop();
      resolve(messages);
    });
  });
}

/** Returns the number of timers that keep the process alive, including mocha's. */
export function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}
