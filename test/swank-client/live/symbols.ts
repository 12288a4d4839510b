import type { SwankClient, types } from "swank-client";

/** The description of a symbol that must be there. */
export async function found(client: SwankClient, name: string, packageName?: string): Promise<types.FoundSymbol> {
  const description = await client.describeSymbol(name, { package: packageName });
  if (description.status === "found") return description;
  throw new Error(`${name} was expected to be found: ${JSON.stringify(description)}`);
}

/** The one meaning of that kind that a symbol must have. */
export async function meaning(client: SwankClient, name: string, kind: types.Meaning["kind"]): Promise<types.Meaning> {
  const { meanings } = await found(client, name);
  const [only, ...others] = meanings.filter((candidate) => candidate.kind === kind);
  if (only !== undefined && others.length === 0) return only;
  throw new Error(`${name} was expected to be one ${kind}: ${JSON.stringify(meanings)}`);
}
