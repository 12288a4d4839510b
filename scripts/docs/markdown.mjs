/** Formats a Markdown table. @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** @param {string} text */
function escapeCell(text) {
  return text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}

/** Escapes text so that Markdown shows it literally, such as `*package*` or `\\"`. @param {string} text */
export function prose(text) {
  return text.replace(/[\\<*_]/g, "\\$&");
}

/** Formats text as inline code. Markdown needs no escapes there, except `|` in a table, which `table` escapes. @param {string} text */
export function code(text) {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}
