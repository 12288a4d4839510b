import type { Readable } from "node:stream";

/**
 * Reads the first characters of a stream, and leaves the rest unread.
 *
 * @param length - In bytes.
 * @returns fewer characters, or none, if the stream ends earlier or the signal is aborted
 */
export function readStart(stream: Readable, length: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const finish = (text: string) => {
      stream.off("readable", onReadable);
      stream.off("close", onEnd);
      signal.removeEventListener("abort", onEnd);
      resolve(text);
    };
    const onReadable = () => {
      const chunk: Buffer | null = stream.read(length);
      if (chunk !== null) finish(String(chunk));
    };
    const onEnd = () => finish("");
    stream.on("readable", onReadable);
    stream.once("close", onEnd);
    signal.addEventListener("abort", onEnd, { once: true });
    if (signal.aborted || stream.destroyed) onEnd();
  });
}
