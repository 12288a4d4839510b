/** One way in which a stream can divide its bytes into chunks. */
export interface Division {
  readonly name: string;
  readonly chunks: readonly Uint8Array[];
}

/** Returns the bytes as one chunk, in two chunks split at every position, and byte by byte. */
export function divisions(bytes: Uint8Array): Division[] {
  const cuts = Array.from({ length: Math.max(0, bytes.length - 1) }, (_, index) => index + 1);
  return [
    { name: "whole", chunks: [bytes] },
    ...cuts.map((cut) => ({ name: `cut at ${cut}`, chunks: [bytes.subarray(0, cut), bytes.subarray(cut)] })),
    { name: "byte by byte", chunks: Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)) },
  ];
}
