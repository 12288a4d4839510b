import { type OpenedConnection, type OpenOptions, openConnection, tcpOpener } from "swank-client/protocol";
import { type FakePeer, FakeSwank } from "../../support/fake-swank.js";

/** A reply to connection-info, as Swank 2.27 gives it, with some of it replaced. */
export function imageInfo(replaced: Readonly<Record<string, string>> = {}): string {
  const fields = {
    pid: "4711",
    style: ":spawn",
    encoding: '(:coding-systems ("utf-8-unix" "iso-latin-1-unix"))',
    "lisp-implementation": '(:type "SBCL" :name "sbcl" :version "2.2.9.debian" :program nil)',
    machine: '(:instance "vm" :type "X86-64" :version "Some CPU")',
    features: "(:swank :x86-64 :sbcl)",
    modules: '("SB-INTROSPECT" "SWANK-REPL")',
    package: '(:name "COMMON-LISP-USER" :prompt "CL-USER")',
    version: '"2.27"',
    ...replaced,
  };
  return `(${Object.entries(fields)
    .map(([name, value]) => `:${name} ${value}`)
    .join(" ")})`;
}

/** Opens a connection to a server that `script` plays, and closes the server when that is settled. */
export async function openFake(
  script: (peer: FakePeer, server: FakeSwank) => unknown,
  options: OpenOptions = {},
): Promise<OpenedConnection> {
  const server = await FakeSwank.listen();
  const opening = openConnection(tcpOpener({ port: server.port }), { secret: false, ...options });
  try {
    await script(await server.accept(), server);
    return await opening;
  } finally {
    await opening.then(
      ({ connection }) => connection.close(),
      () => {},
    );
    if (server.openSockets > 0) await server.allClosed();
    await server.close();
  }
}

/** Plays a server that tells about its image. */
export function tellImage(replaced?: Readonly<Record<string, string>>): (peer: FakePeer) => Promise<void> {
  return async (peer) => peer.returnOk((await peer.nextRequest("connection-info")).id, imageInfo(replaced));
}
