import { withBoth } from "../bare-evaluate.mjs";
import { SUM } from "../bare-socket.mjs";
import { coldAndWarm } from "../measure.mjs";

const CALLS = 200;
const ROUNDS = 31;
const WARM_UP = 50;

/** Measures a request through the library against one over a bare socket. */
export function roundTrip() {
  return withBoth(async (client, socket) => {
    const requests = async () => {
      for (let call = 0; call < CALLS; call++) await client.request(SUM, { label: "sum" });
    };
    const bareRequests = async () => {
      for (let call = 0; call < CALLS; call++) await socket.roundTrip(socket.message(SUM));
    };
    return coldAndWarm(
      "round trip",
      { what: `${CALLS} requests (+ 1 2) through swank-client`, run: requests },
      { what: "the same bytes over a bare socket", run: bareRequests },
      ROUNDS,
      WARM_UP,
    );
  });
}
