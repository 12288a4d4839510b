import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";
import { BareSocket, SUM } from "../bare-socket.mjs";
import { ratio } from "../measure.mjs";

const CALLS = 200;

/** Measures a request through the library against one over a bare socket, on two images of the same core. */
export async function roundTrip() {
  const [image, bareImage] = [await launchImage(), await launchImage()];
  const client = await connect({ transport: image.transport });
  const socket = new BareSocket(await bareImage.transport());
  try {
    return [
      await ratio(
        "round trip",
        { what: `${CALLS} requests (+ 1 2) through swank-client`, run: () => requests(client) },
        { what: "the same bytes over a bare socket", run: () => bareRequests(socket) },
      ),
    ];
  } finally {
    await client.close();
    socket.close();
    await Promise.all([image.stop(), bareImage.stop()]);
  }
}

/** @param {import("swank-client").SwankClient} client */
async function requests(client) {
  for (let call = 0; call < CALLS; call++) await client.call(SUM, { label: "sum" });
}

/** @param {BareSocket} socket */
async function bareRequests(socket) {
  for (let call = 0; call < CALLS; call++) await socket.roundTrip(socket.message(SUM));
}
