/**
 * Lines with their numbers, as a file viewer shows them.
 *
 * @param first - Number of the first line.
 * @param marked - Number of the line to mark.
 */
export function numberedLines(lines: readonly string[], first: number, marked?: number): string[] {
  const width = String(first + lines.length - 1).length + (marked === undefined ? 0 : 1);
  return lines.map((line, index) => {
    const number = first + index;
    const label = number === marked ? `>${number}` : String(number);
    return `${label.padStart(width)}  ${line}`.trimEnd();
  });
}
