import { environmentName, fallbackText, type Option } from "./option.js";
import { ALL_OPTIONS } from "./options.js";

const USAGE = `Usage: swank-mcp [options]           MCP server on standard input and output
       swank-mcp console [options]   prompt in this terminal that uses the same tools
       swank-mcp check FILE...       finds unbalanced parentheses without a Lisp; - means standard input

Gives agents a live Common Lisp image. Without --attach, the server launches SBCL when a tool first needs it.
`;

/** The text of `--help`. */
export function helpText(): string {
  const heads = ALL_OPTIONS.map(head);
  const width = Math.max(...heads.map((text) => text.length)) + 2;
  const lines = ALL_OPTIONS.map((option, index) => `  ${(heads[index] ?? "").padEnd(width)}${body(option)}`);
  return `${USAGE}
Options:
${lines.join("\n")}

Each option has an environment variable, for example ${example()}. Command-line options override environment variables.
`;
}

function head(option: Option<unknown>): string {
  if (option.placeholder === undefined) return option.flag;
  return `${option.flag} ${option.valueOptional === true ? `[${option.placeholder}]` : option.placeholder}`;
}

function body(option: Option<unknown>): string {
  const fallback = fallbackText(option);
  return fallback === undefined ? option.summary : `${option.summary} Default: ${fallback}.`;
}

function example(): string {
  const option = ALL_OPTIONS.find((candidate) => candidate.flag === "--no-user-init") ?? ALL_OPTIONS[0];
  return option === undefined ? "" : `${environmentName(option)}=1 for ${option.flag}`;
}
