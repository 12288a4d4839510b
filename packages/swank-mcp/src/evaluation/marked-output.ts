import type { OmittedOutput, OutputStream, Transcript } from "../image/lisp-port.js";

/** The transcript, with a line at each place of its output at which text is missing. */
export function markedOutput(transcript: Transcript): Transcript {
  const { stdout, stderr, outputOmitted } = transcript;
  if (outputOmitted.length === 0) return transcript;
  const marked = (stream: OutputStream, text: string) =>
    withMarks(
      text,
      outputOmitted.filter((omitted) => omitted.stream === stream),
    );
  return { ...transcript, stdout: marked("stdout", stdout), stderr: marked("stderr", stderr), outputOmitted: [] };
}

function withMarks(text: string, gaps: readonly OmittedOutput[]): string {
  const ends = [...gaps.map(({ at }) => at), text.length];
  const parts = gaps.map(({ at, count }, index) => {
    // A text that ends in its gap may end in a whole line.
    const isOnNewLine = at === text.length && text.endsWith("\n");
    return `${isOnNewLine ? "" : "\n"}[... ${count} characters left out ...]\n${text.slice(at, ends[index + 1])}`;
  });
  return text.slice(0, ends[0]) + parts.join("");
}
