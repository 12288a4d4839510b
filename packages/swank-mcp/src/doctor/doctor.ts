import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { SwankError } from "swank-client";
import { attempted, defaultCacheFolder, homeFolder, quicklispFolders, treeProblem } from "swank-client/internal";
import { findLisp, findSwank } from "swank-client/launch";
import { isExecutable } from "../base/client-setup.js";
import { type Config, DEFAULT_HOST, DEFAULT_PORT } from "../base/config.js";
import { emacsFolder, VERSION } from "../base/version.js";
import { bytesText, plural, shellWord } from "../text/cut.js";
import { findEmacs } from "./emacs.js";
import { type Finding, findingText, fittingLine, withoutHome } from "./finding.js";
import { compareVersions, OLDEST, TESTED, testedText } from "./versions.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** What `doctor` reports, and 1 as the exit code if something is missing that the server needs. */
export interface Examination {
  readonly text: string;
  readonly exitCode: number;
}

/** Looks for what the server needs and what it can use. Starts SBCL and Emacs for a moment, and changes nothing. */
export async function examine(config: Config, env: Environment): Promise<Examination> {
  const findings = [
    nodeFinding(),
    await lispFinding(config, env),
    await swankFinding(config, env),
    managerFinding(env),
    ...(await emacsFindings(env)),
    await cacheFinding(config, env),
    ...secretFindings(env),
    await portFinding(config.attach?.port ?? DEFAULT_PORT, "in use; if that is Swank, --attach reaches it"),
    await portFinding(config.port, "in use; name another one with --port"),
    environmentFinding(env),
  ];
  const lines = [`swank-mcp ${VERSION} on ${process.platform} ${process.arch}`, "", ...findings.map(findingText)];
  const missing = findings.filter(({ state }) => state === "missing");
  const end =
    missing.length === 0
      ? "All that the server needs is there."
      : `Missing: ${missing.map(({ subject }) => subject).join(", ")}.`;
  const homes = [homeFolder(env), attempted(() => realpathSync(homeFolder(env))) ?? ""];
  return { text: withoutHome(`${[...lines, "", end].join("\n")}\n`, homes), exitCode: missing.length === 0 ? 0 : 1 };
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  const isOld = compareVersions(node, OLDEST.node) < 0;
  // Newer releases of a tested series are as good.
  const series = TESTED.node.map((version) => version.split(".")[0] ?? version);
  const text = `${node}, ${testedText(node, series)}`;
  return isOld
    ? { subject: "Node", state: "missing", text: `${node} is older than ${OLDEST.node}`, mend: "nvm install 22" }
    : { subject: "Node", state: "ok", text };
}

async function lispFinding({ lisp }: Config, env: Environment): Promise<Finding> {
  try {
    const { version, executable } = await findLisp({ ...(lisp === undefined ? {} : { lisp }), env });
    return { subject: "SBCL", state: "ok", text: `${version}, ${testedText(version, TESTED.sbcl)}, ${executable}` };
  } catch (error) {
    return missing("SBCL", error, env);
  }
}

async function swankFinding({ swank }: Config, env: Environment): Promise<Finding> {
  try {
    const folder = await findSwank({ ...(swank === undefined ? {} : { swank }), env });
    const version = swankVersion(folder);
    if (version === undefined) return { subject: "Swank", state: "ok", text: `version not known, ${folder}` };
    if (compareVersions(version, OLDEST.swank) >= 0)
      return { subject: "Swank", state: "ok", text: `${version}, ${testedText(version, TESTED.swank)}, ${folder}` };
    const text = `${version} is older than ${OLDEST.swank}, ${folder}`;
    return {
      subject: "Swank",
      state: "missing",
      text,
      mend: "git clone https://github.com/slime/slime ~/common-lisp/slime",
    };
  } catch (error) {
    return missing("Swank", error, env);
  }
}

/** The version that SLIME's folder names: in a file of its own, or in the head of `slime.el`. */
function swankVersion(folder: string): string | undefined {
  const own = attempted(() => readFileSync(join(folder, "slime-version"), "utf8").trim());
  const head = attempted(() => readFileSync(join(folder, "slime.el"), "utf8").slice(0, 4000));
  return own ?? (head === undefined ? undefined : /^;; Version: (\S+)/m.exec(head)?.[1]);
}

function missing(subject: string, error: unknown, env: Environment): Finding {
  if (!(error instanceof SwankError)) throw error;
  const [text = ""] = error.message.split("\n");
  const [, variable] = /which the environment variable (\w+) names/.exec(text) ?? [];
  const mend = variable === undefined ? fittingLine(error.remedy, (name) => isOnPath(name, env)) : `unset ${variable}`;
  return { subject, state: "missing", text, mend };
}

function managerFinding(env: Environment): Finding {
  const quicklisp = quicklispFolders(env).find((folder) => existsSync(join(folder, "setup.lisp")));
  const found = [
    ...(quicklisp === undefined ? [] : [`Quicklisp in ${quicklisp}`]),
    ...(isOnPath("ocicl", env) ? ["ocicl"] : []),
  ];
  return found.length > 0
    ? { subject: "Libraries", state: "ok", text: found.join(", ") }
    : {
        subject: "Libraries",
        state: "note",
        text: "neither Quicklisp nor ocicl; load-system loads what ASDF finds",
        mend: "https://www.quicklisp.org/beta/#installation",
      };
}

async function emacsFindings(env: Environment): Promise<readonly Finding[]> {
  const emacs = await findEmacs(env);
  if (emacs === undefined) return [{ subject: "Emacs", state: "note", text: "none; only sharing an image needs it" }];
  const { version, slime } = emacs;
  return [
    { subject: "Emacs", state: "ok", text: `${version}, ${testedText(version, TESTED.emacs)}` },
    slime === undefined
      ? {
          subject: "SLIME",
          state: "note",
          text: "none that Emacs finds",
          mend: "M-x package-install RET slime RET, from MELPA or NonGNU ELPA",
        }
      : { subject: "SLIME", state: "ok", text: `${swankVersion(slime) ?? "version not known"}, ${slime}` },
    { subject: "swank-mcp.el", state: "ok", text: emacsFolder() },
  ];
}

async function cacheFinding({ cacheDir }: Config, env: Environment): Promise<Finding> {
  const folder = cacheDir ?? defaultCacheFolder(env);
  if (!existsSync(folder)) return { subject: "Cache", state: "note", text: `${folder} is made when it is needed` };
  const problem = await treeProblem(folder, false).catch(() => "cannot be read");
  if (problem === undefined) return { subject: "Cache", state: "ok", text: `${folder}, ${sizeText(folder)}` };
  const text = `${folder} ${problem}, so another folder is used`;
  return { subject: "Cache", state: "wrong", text, mend: `rm -r ${shellWord(folder)}` };
}

function sizeText(folder: string): string {
  const names = attempted(() => readdirSync(folder)) ?? [];
  const files = names
    .flatMap((name) => attempted(() => statSync(join(folder, name))) ?? [])
    .filter((each) => each.isFile());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${bytesText(bytes)} in ${files.length} ${plural(files.length, "file")}`;
}

/** Bits of a file's mode that let others read or write it. */
const OTHERS = 0o077;

function secretFindings(env: Environment): readonly Finding[] {
  const file = join(homeFolder(env), ".slime-secret");
  const mode = attempted(() => statSync(file).mode);
  if (mode === undefined) return [];
  return (mode & OTHERS) === 0
    ? [{ subject: "Secret", state: "ok", text: `${file}, only yours` }]
    : [{ subject: "Secret", state: "wrong", text: `other users can read ${file}`, mend: `chmod 600 ${file}` }];
}

/** Says whether a port is free, without connecting to it: a Swank that serves one client would take the visitor for it. */
async function portFinding(port: number, ifUsed: string): Promise<Finding> {
  const subject = `Port ${port}`;
  return (await isFree(port)) ? { subject, state: "ok", text: "free" } : { subject, state: "note", text: ifUsed };
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: DEFAULT_HOST, port }, () => server.close(() => resolve(true)));
  });
}

/** Variables with a path or a version, which a report may tell. */
const TOLD = ["SBCL", "SWANK", "SBCL_HOME", "SBCL_CORE", "CL_SOURCE_REGISTRY"];

function environmentFinding(env: Environment): Finding {
  const told = TOLD.flatMap((name) => (env[name] ? [`${name}=${env[name]}`] : []));
  // Their values may be secret, or name others' machines.
  const names = Object.keys(env).filter((name) => name.startsWith("SWANK_MCP_") && env[name]);
  const all = [...told, ...names.sort()];
  return { subject: "Environment", state: "note", text: all.length === 0 ? "nothing is set" : all.join("\n") };
}

function isOnPath(name: string, env: Environment): boolean {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => isExecutable(join(folder, name)));
}
