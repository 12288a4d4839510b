// Changing a long text byte by byte is several times as fast as building it from slices.

/** The parts of the Encoding Standard used here: Node and browsers have them, TypeScript's standard library does not. */
declare const TextEncoder: new () => {
  encodeInto(text: string, bytes: Uint8Array): { readonly written: number };
};
declare const TextDecoder: new (
  label: string,
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The most chars of a chunk. V8 compiles a loop over larger ones while it runs, to code that is half as fast, and the function only after megabytes. */
export const MAX_CHUNK = 16_384;
/** Room for the bytes of any chunk. */
export const MAX_CHUNK_BYTES = 3 * MAX_CHUNK;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** At most `size` chars from `start`, without the first half of a surrogate pair at the end. */
export function chunkAt(text: string, start: number, size: number): string {
  const end = start + size;
  const isSplit = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return text.slice(start, isSplit ? end - 1 : end);
}

/** Writes the UTF-8 of a chunk into `bytes` and gives its length; -1 when a lone surrogate would be lost. */
export function encodeChunk(chunk: string, bytes: Uint8Array): number {
  const { written } = encoder.encodeInto(chunk, bytes);
  const isAscii = written === chunk.length;
  return isAscii || !LONE_SURROGATE.test(chunk) ? written : -1;
}

/** The text of the first `length` bytes. */
export function decodeBytes(bytes: Uint8Array, length: number): string {
  return decoder.decode(bytes.subarray(0, length));
}
