import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

/** Ids that a client returns, signed with a key that never leaves the process. */
export class SealedIds {
  readonly #key = randomBytes(32);

  /** A fresh id, and the signed text that the client returns for it. */
  next(): { readonly id: string; readonly seal: string } {
    const id = randomUUID();
    return { id, seal: `${id}.${this.#signature(id).toString("base64url")}` };
  }

  /** @returns the id, or `undefined` when this process did not sign the text. */
  open(seal: string): string | undefined {
    const [id = "", signature = "", ...rest] = seal.split(".");
    const given = Buffer.from(signature, "base64url");
    const own = this.#signature(id);
    // Other texts of the same bytes are alterations too.
    const isOwn =
      given.length === own.length && timingSafeEqual(given, own) && given.toString("base64url") === signature;
    return isOwn && rest.length === 0 ? id : undefined;
  }

  #signature(id: string): Buffer {
    return createHmac("sha256", this.#key).update(id).digest();
  }
}
