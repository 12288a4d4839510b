import { HOSTS, USAGES } from "./commands.js";
import { ALL_OPTIONS, OPTIONS } from "./config.js";
import { environmentName, fallbackText, type Option, optionHead } from "./option.js";

/** The text of `--help all`, or of `--help`, which fits a terminal of 24 lines with 80 columns. */
export function helpText(kind: "short" | "all"): string {
  const variable = environmentName(OPTIONS.readOnly);
  const shown = kind === "all" ? ALL_OPTIONS : ALL_OPTIONS.filter(({ brief }) => brief !== undefined);
  const rows = shown.map(
    (option) => [optionHead(option), kind === "all" ? whole(option) : (option.brief ?? "")] as const,
  );
  const [first = "", ...rest] = table(USAGES);
  return `Usage: ${[first, ...rest.map((line) => `       ${line}`)].join("\n")}

Gives agents a live Common Lisp image, which it launches without --attach.
HOST is ${HOSTS.slice(0, -1).join(", ")} or ${HOSTS.at(-1)}.

${table(rows)
  .map((line) => `  ${line}\n`)
  .join("")}
Each option has an environment variable: ${variable}=1 is ${OPTIONS.readOnly.flag}.${
    kind === "all" ? " Command-line options override environment variables." : ""
  }
`;
}

/** Lines of two columns. */
function table(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`);
}

function whole(option: Option<unknown>): string {
  const fallback = fallbackText(option);
  return fallback === undefined ? option.summary : `${option.summary} Default: ${fallback}.`;
}
