// In the bundle, replaces the part of the MCP SDK that would bring a JSON Schema validator, which the server does not use.
export { default as process } from "node:process";

export class DefaultJsonSchemaValidator {
  /** @returns {never} */
  getValidator() {
    throw new Error("The bundle contains no JSON Schema validator.");
  }
}
