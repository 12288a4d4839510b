import { readFileSync } from "node:fs";
import { ProtocolError, ResourceNotFoundError, type Server, type ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { lazily } from "../call/tool.js";
import type { ToolServer } from "../tools/tool-server.js";
import { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./instructions.js";
import { ReadableChanges, readText } from "./readable.js";
import { INVALID_PARAMS } from "./sent-message.js";
import type { ServedSkill } from "./skills.js";

/** The extension that a host declares which can show apps (SEP-1865). */
const EXTENSION = "io.modelcontextprotocol/ui";

const APP_TYPE = "text/html;profile=mcp-app";

const APP_URI = "ui://swank/stop";

/** The bundle makes the app (`scripts/bundle/bundle.mjs`). */
const FILE = new URL("../../dist/program/app/stop.html", import.meta.url);

/** The tools whose answers can be about a stop. */
const TOOLS: ReadonlySet<string> = new Set([
  "evaluate-lisp",
  "load-system",
  "load-changes",
  "run-tests",
  "interrupt-thread",
  "debugger_frames",
  "debugger_invoke_restart",
  "debugger_step",
  "debugger_continue",
]);

const capabilitiesSchema = z.looseObject({
  extensions: z.looseObject({ [EXTENSION]: z.looseObject({ mimeTypes: z.array(z.string()) }) }),
});

/** Whether a client with these capabilities shows apps. */
export function showsApps(capabilities: unknown): boolean {
  const read = capabilitiesSchema.safeParse(capabilities);
  return read.success && read.data.extensions[EXTENSION].mimeTypes.includes(APP_TYPE);
}

/** An entry of `tools/list` with the app that shows the tool's answers, if there is one. */
export function withApp(tool: string, entry: object): object {
  return TOOLS.has(tool) ? { ...entry, _meta: { ui: { resourceUri: APP_URI } } } : entry;
}

/** The SDK's extension for skills (SEP-2640). */
export const SKILLS = "io.modelcontextprotocol/skills";

/** The skill whose text the prompt `debug` gives. */
const DEBUGGING = "lisp-debugging";

const DEBUG = {
  name: "debug",
  title: "Look at what has stopped",
  description: "Find out why threads of the Lisp image are stopped, and how they can go on.",
} as const;

const DEBUG_TASK =
  "Look at the stopped threads of the Lisp image, which lisp-status lists. Find out why each has stopped, and say what you found and how it can go on. Ask me before you change or resume anything.";

const TEXT = { mimeType: "text/plain" } as const;

const MARKDOWN = { mimeType: "text/markdown" } as const;

/** What a person can mention, and a client can watch. */
const READABLE = [
  {
    uri: "lisp://stops",
    what: "stops",
    name: "stops",
    title: "Stopped threads",
    description: "The stopped threads of the Lisp image, with their conditions, restarts and innermost frames.",
  },
  {
    uri: "lisp://errors/last",
    what: "last-error",
    name: "last-error",
    title: "Last error",
    description: "The last error of this session, also after its thread or image has ended.",
  },
  {
    uri: "lisp://definitions",
    what: "definitions",
    name: "definitions",
    title: "Definitions",
    description: "What this session has defined and loaded.",
  },
] as const;

/** What a client can read beside calling tools. The servers of a connection share it. */
export class Resources {
  readonly #tools: ToolServer;
  /** The skills of which each sentence holds for the client: those that name no tool which is switched off. */
  readonly skills: () => Promise<readonly ServedSkill[]>;
  /** The resources that a client of a revision up to 2025 has subscribed to. */
  readonly subscribed = new Set<string>();
  #changes: ReadableChanges | undefined;

  constructor(tools: ToolServer) {
    this.#tools = tools;
    this.skills = lazily(async () => {
      // Few clients ask for skills, and reading them would slow every start.
      const { readSkills } = await import("./skills.js");
      return (await readSkills()).filter(({ text }) => tools.guide.offersAll(text));
    });
  }

  /** @param hasApp - Whether the client is told of the app, which only some hosts can show. */
  async list(hasApp: boolean): Promise<object[]> {
    const skills = (await this.skills()).map(({ entry: { uri, frontmatter }, text }) => ({
      uri,
      name: frontmatter.name,
      description: frontmatter.description,
      size: Buffer.byteLength(text),
      ...MARKDOWN,
    }));
    const readable = READABLE.map(({ what, ...entry }) => ({ ...entry, ...TEXT }));
    const app = {
      uri: APP_URI,
      name: "stop",
      title: "Stop",
      description: "Shows a stopped thread.",
      mimeType: APP_TYPE,
    };
    return [...readable, ...skills, ...(hasApp ? [app] : [])];
  }

  /** The content of a resource, and whether it never changes; `undefined` if there is no such resource. */
  async read(uri: string): Promise<{ readonly content: Content; readonly isFixed: boolean } | undefined> {
    const readable = READABLE.find((each) => each.uri === uri);
    if (readable !== undefined) {
      const text = await readText(readable.what, this.#tools.agent, this.#tools.guide);
      return { content: { uri, text, ...TEXT }, isFixed: false };
    }
    if (uri === APP_URI) {
      const content = {
        uri,
        text: readFileSync(FILE, "utf8"),
        mimeType: APP_TYPE,
        _meta: { ui: { prefersBorder: true } },
      };
      return { content, isFixed: true };
    }
    const skill = await this.findSkill(uri);
    return skill && { content: { uri, text: skill.text, ...MARKDOWN }, isFixed: true };
  }

  async findSkill(uri: string): Promise<ServedSkill | undefined> {
    return (await this.skills()).find(({ entry }) => entry.uri === uri);
  }

  /** The text of the prompt: the skill or, if it names tools that are switched off, what the instructions say of the others. */
  async debugText(): Promise<string> {
    const { guide, agent } = this.#tools;
    const skill = (await this.skills()).find(({ entry }) => entry.frontmatter.name === DEBUGGING);
    const text =
      skill === undefined
        ? guide.advise(agent.config.readOnly ? READ_ONLY_INSTRUCTIONS : INSTRUCTIONS)
        : bodyOf(skill.text);
    return [guide.advise(DEBUG_TASK), text].join("\n\n");
  }

  /** Calls the listener with the address of each resource that changes from now on. Only the first listener is called. */
  watch(onUpdate: (uri: string) => void): void {
    this.#changes ??= new ReadableChanges(this.#tools.agent, (changed) => {
      const { uri } = READABLE.find(({ what }) => what === changed) ?? {};
      if (uri !== undefined) onUpdate(uri);
    });
  }

  close(): void {
    this.#changes?.close();
  }
}

interface Content {
  readonly uri: string;
  readonly text: string;
  readonly mimeType: string;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** A skill's text without what describes it to a host, and without the marks of its generated parts. */
function bodyOf(text: string): string {
  return text
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replace(/<!--[\s\S]*?-->\n*/g, "")
    .trim();
}

export interface ServeOptions {
  readonly meet?: (context: ServerContext) => void;
  hasApp(context: ServerContext): boolean;
  /** How long the client may keep what never changes. */
  readonly kept?: { readonly ttlMs: number; readonly cacheScope: "private" | "public" };
}

/** Serves the resources, the prompt, and the skills by the SDK's extension, which attaches itself only to the SDK's high-level server. */
export function serveResources(
  server: Server,
  resources: Resources,
  { meet = () => undefined, hasApp, kept }: ServeOptions,
): void {
  server.setRequestHandler("skills/list", { params: z.unknown() }, async (_params, context) => {
    meet(context);
    return { skills: (await resources.skills()).map(({ entry }) => entry), ...kept };
  });
  server.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, context) => {
    meet(context);
    const found = await resources.findSkill(uri);
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, `No skill is served at ${uri}`);
    return { skill: found.entry, ...kept };
  });
  server.setRequestHandler("resources/list", { params: z.unknown() }, async (_params, context) => {
    meet(context);
    return { resources: await resources.list(hasApp(context)), ...kept };
  });
  server.setRequestHandler("resources/templates/list", (_request, context) => {
    meet(context);
    return { resourceTemplates: [], ...kept };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    meet(context);
    const found = await resources.read(uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [found.content], ...(found.isFixed ? kept : {}) };
  });
  server.setRequestHandler("prompts/list", (_request, context) => {
    meet(context);
    return { prompts: [{ ...DEBUG }], ...kept };
  });
  server.setRequestHandler("prompts/get", async ({ params: { name } }, context) => {
    meet(context);
    if (name !== DEBUG.name)
      throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${JSON.stringify(name)}: there is ${DEBUG.name}.`);
    const text = await resources.debugText();
    return {
      description: DEBUG.description,
      messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
    };
  });
}

/** Serves the subscriptions of a client of a revision up to 2025. */
export function serveSubscriptions(server: Server, resources: Resources, onError: (error: Error) => void): void {
  const { subscribed } = resources;
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const isReadable = READABLE.some((each) => each.uri === uri);
    if (!isReadable && (await resources.read(uri)) === undefined) throw new ResourceNotFoundError(uri);
    if (isReadable) subscribed.add(uri);
    resources.watch((changed) => {
      if (subscribed.has(changed)) server.sendResourceUpdated({ uri: changed }).catch(onError);
    });
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}
