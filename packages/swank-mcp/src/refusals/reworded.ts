/** An error of `swank-client` with a remedy in terms of this server's options. */
export class Reworded extends Error {
  readonly code: string;
  readonly remedy: string;

  constructor(cause: Error & { readonly code: string }, remedy: string) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.remedy = remedy;
  }
}
