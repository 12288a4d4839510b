/** The stream that a piece of output was written to. */
export type OutputStream = "stdout" | "stderr";

/** A place in `stdout` or `stderr` at which output is missing, because there is more than the limits allow. */
export interface OmittedOutput {
  readonly stream: OutputStream;
  /** Position in the text, in UTF-16 code units. */
  readonly at: number;
  /** The number of missing characters, as Lisp counts them. */
  readonly count: number;
}

/** A piece of output. */
export interface OutputChunk {
  readonly stream: OutputStream;
  readonly text: string;
  /** Characters of the stream that are missing before this piece, because of `outputLimit`; absent if there are none. */
  readonly omittedBefore?: number;
}
