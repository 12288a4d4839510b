import type { NetworkPeer } from "swank-client/protocol";
import { addressText, type ImageAddress } from "../cli/image-address.js";
import { tunnelTo } from "../cli/tunnel.js";
import type { AttachedOrigin } from "./lisp-session.js";

/** The origin of an attached image, with a warning if the connection crosses a network: Swank encrypts nothing. */
export function attachedOrigin(address: ImageAddress, peer: NetworkPeer | undefined): AttachedOrigin {
  const isOpen = peer?.isLoopback === false;
  return { kind: "attached", address: addressText(address), ...(isOpen ? { warning: unencrypted(address) } : {}) };
}

function unencrypted(address: ImageAddress): string {
  return `The connection to ${addressText(address)} is not encrypted, and anyone who can reach that port can run any code in the Lisp. Safer: let its Swank listen only on its own machine, ${tunnelTo(address)}.`;
}
