import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { basename, delimiter, join, resolve } from "node:path";
import { SwankError } from "swank-client";
import {
  Abilities,
  attempted,
  defaultCacheFolder,
  homeFolder,
  ownFolder,
  quicklispFolders,
} from "swank-client/internal";
import { findLisp, findSwank } from "swank-client/launch";
import { isExecutable } from "../base/client-setup.js";
import { type Config, DEFAULT_HOST, DEFAULT_PORT, isLoopback } from "../base/config.js";
import { OTHERS } from "../base/log.js";
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

/** Looks for what the server needs and what it can use. Starts the Lisp and Emacs for a moment, and changes nothing. */
export async function examine(config: Config, env: Environment): Promise<Examination> {
  // A program that hangs is given half a minute, so they are started together.
  const [lisp, emacs] = await Promise.all([lispFinding(config, env), emacsFindings(env)]);
  const findings = [
    nodeFinding(),
    lisp,
    await swankFinding(config, env),
    managerFinding(env),
    ...emacs,
    await cacheFinding(config, env),
    ...secretFindings(env),
    await imagePortFinding(config),
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

const WITHOUT_HEAP = "start swank-mcp without --dynamic-space-size";

async function lispFinding({ lisp, dynamicSpaceSize }: Config, env: Environment): Promise<Finding> {
  try {
    const { implementation, version, executable } = await findLisp({ ...(lisp === undefined ? {} : { lisp }), env });
    const text = `${version}, ${testedText(version, TESTED[implementation === "ECL" ? "ecl" : "sbcl"])}, ${executable}`;
    if (implementation === "SBCL") return { subject: "SBCL", state: "ok", text };
    if (dynamicSpaceSize !== undefined)
      return { subject: "ECL", state: "missing", text: `${text}; only SBCL takes a heap size`, mend: WITHOUT_HEAP };
    const { missing } = new Abilities(implementation, version, "spawn");
    return { subject: "ECL", state: "ok", text: `${text}\ncannot: ${missing.join(", ")}` };
  } catch (error) {
    const finding = missing(basename(lisp ?? "").startsWith("ecl") ? "ECL" : "SBCL", error, env);
    if (!/cannot be (?:used|launched)/.test(finding.text)) return finding;
    // One is installed, so that installing it helps nobody.
    const mend =
      lisp === undefined && env["SBCL"] ? "unset SBCL" : "start swank-mcp with --lisp, the path of an SBCL or ECL";
    return { ...finding, mend };
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
  const [first = ""] = error.message.split("\n");
  const text = first.replace(/ Looked in:$/, "");
  const [, variable] = /which the environment variable (\w+) names/.exec(text) ?? [];
  if (variable !== undefined) return { subject, state: "missing", text, mend: `unset ${variable}` };
  const line = fittingLine(error.remedy, (name) => isOnPath(name, env));
  // A container often has no sudo, which its only user does not need.
  const mend = process.getuid?.() === 0 ? line.replace(/^sudo /, "") : line;
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
  if (emacs === undefined && isOnPath("emacs", env))
    return [{ subject: "Emacs", state: "wrong", text: "it does not say its version", mend: "emacs --batch --version" }];
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
  const folder = resolve(cacheDir ?? defaultCacheFolder(env));
  if (!existsSync(folder)) return { subject: "Cache", state: "note", text: `${folder} is made when it is needed` };
  const found = await ownFolder(folder);
  if ("path" in found) return { subject: "Cache", state: "ok", text: `${folder}, ${sizeText(folder)}` };
  // Without a reason of its own, it is a folder on the way to it that others can change.
  const isItself = !found.problem.startsWith(`${folder} cannot be`);
  const mend = isItself
    ? `rm -r ${shellWord(folder)}`
    : "start swank-mcp with --cache-dir, a folder that only you can write";
  return { subject: "Cache", state: "wrong", text: `${found.problem}, so another folder is used`, mend };
}

function sizeText(folder: string): string {
  const names = attempted(() => readdirSync(folder, { recursive: true, encoding: "utf8" })) ?? [];
  const files = names
    .flatMap((name) => attempted(() => statSync(join(folder, name))) ?? [])
    .filter((each) => each.isFile());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${bytesText(bytes)} in ${files.length} ${plural(files.length, "file")}`;
}

function secretFindings(env: Environment): readonly Finding[] {
  return [".slime-secret", ".sly-secret"].flatMap((name) => secretFinding(join(homeFolder(env), name)));
}

function secretFinding(file: string): readonly Finding[] {
  const mode = attempted(() => statSync(file).mode);
  if (mode === undefined) return [];
  return (mode & OTHERS) === 0
    ? [{ subject: "Secret", state: "ok", text: `${file}, only yours` }]
    : [
        {
          subject: "Secret",
          state: "wrong",
          text: `other users can read ${file}`,
          mend: `chmod 600 ${shellWord(file)}`,
        },
      ];
}

/** Says of the port at which an image is looked for whether something listens there. */
async function imagePortFinding({ attach }: Config): Promise<Finding> {
  const { host, port } = attach ?? { host: DEFAULT_HOST, port: DEFAULT_PORT };
  if (!isLoopback(host))
    return { subject: `Port ${port}`, state: "note", text: "on another machine, so not looked at" };
  const found = await portFinding(port, "in use; if that is Swank, --attach reaches it");
  if (attach === undefined || found.state !== "ok") return found;
  return {
    subject: `Image at port ${port}`,
    state: "missing",
    text: "nothing listens there, but --attach names it",
    mend: `(swank:create-server :port ${port} :dont-close t)`,
  };
}

/** Says whether a port is free, without connecting to it: a Swank that serves one client would take the visitor for it. */
async function portFinding(port: number, ifUsed: string): Promise<Finding> {
  const subject = `Port ${port}`;
  const problem = await listeningProblem(port);
  if (problem === undefined) return { subject, state: "ok", text: "free" };
  return {
    subject,
    state: "note",
    text: problem === "EADDRINUSE" ? ifUsed : `this user cannot listen there (${problem})`,
  };
}

/** The system's code for why this process cannot listen on a port; `undefined` if it can. */
function listeningProblem(port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((settle) => {
    server.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    server.listen({ host: DEFAULT_HOST, port }, () => server.close(() => settle(undefined)));
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
