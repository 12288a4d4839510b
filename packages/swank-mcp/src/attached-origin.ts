import type { NetworkPeer } from "swank-client";
import { addressText, type ImageAddress } from "./image-address.js";
import type { AttachedOrigin } from "./lisp-session.js";
import { tunnelTo } from "./tunnel.js";

/** Which image a session is in, with a warning when the way there leads over a network: Swank encrypts nothing. */
export function attachedOrigin(address: ImageAddress, peer: NetworkPeer | undefined): AttachedOrigin {
  const isOpen = peer?.isLoopback === false;
  return { kind: "attached", address: addressText(address), ...(isOpen ? { warning: unencrypted(address) } : {}) };
}

function unencrypted(address: ImageAddress): string {
  return `The connection to ${addressText(address)} is not encrypted, and whoever can reach that port can run anything in the Lisp. Safer: have its Swank listen on its own machine only, ${tunnelTo(address)}.`;
}
