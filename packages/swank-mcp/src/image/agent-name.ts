/** The name of the agent that a process serves. The client gives it before the image is needed. */
export class AgentName {
  #text = "agent";

  get text(): string {
    return this.#text;
  }

  /** Sets the name, unless it is empty. */
  set(text: string | undefined): void {
    if (text !== undefined && text.trim() !== "") this.#text = text.trim();
  }
}
