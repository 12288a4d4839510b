import { Sources, type types } from "swank-client";

/** The line that each warning is about, from there, in its file or in the code. */
export async function placesOf(
  warnings: readonly types.LispWarning[],
  code?: string,
): Promise<readonly (string | undefined)[]> {
  const sources = new Sources();
  const found = warnings.map(async (warning) => {
    const at = await sources.locate(warning, { code });
    return at.status === "found" ? at.source.text.slice(at.offset).split("\n")[0] : `${at.status}: ${at.reason}`;
  });
  return Promise.all(found);
}
