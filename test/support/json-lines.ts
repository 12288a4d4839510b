import type { Readable } from "node:stream";

/** Calls `receive` with each line of JSON that a stream delivers. */
export function readJsonLines<T>(stream: Readable, receive: (message: T) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    rest += text;
    if (!text.includes("\n")) return;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") receive(JSON.parse(line));
  });
}
