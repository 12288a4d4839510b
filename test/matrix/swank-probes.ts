import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Stop, SwankClient } from "swank-client";
import * as swank from "swank-client/swank";
import { testCache } from "../support/test-cache.js";
import { DEFINITIONS } from "../swank-client/live/called-code.js";
import { values } from "../swank-client/live/outcomes.js";
import type { Lab } from "./lab.js";
import { frameOf, running } from "./library-probes.js";
import type { Probes } from "./probe.js";

/** Calls a function; one of a stopped thread, at a stop. */
type Call = (client: SwankClient, lab: Lab) => Promise<unknown>;

/** A call of each function of a table: the compiler asks for those of new ones. */
type Calls<Table> = Readonly<Record<keyof Table, Call>>;

const { compiling, completion, debugging, definitions, evaluation, expanding, image } = swank;
const { inspecting, packages, profiling, repl, systems, tracing } = swank;

/** A folder with a system, its file, and a compiled file. */
async function systemFolder(): Promise<string> {
  const folder = join(testCache("matrix"), "sc-system");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "sc-system.asd"), '(asdf:defsystem "sc-system" :components ((:file "a")))');
  await writeFile(join(folder, "a.lisp"), "(defun cl-user::sc-in-a () 1)\n");
  return folder;
}

const inFile = async () => join(await systemFolder(), "a.lisp");

/** Calls a function that needs ASDF, and the system of the folder. */
function ofSystem(call: Call): Call {
  return async (client, lab) => {
    const folder = await systemFolder();
    await values(client, "(require :asdf)");
    await values(
      client,
      `(pushnew #p"${folder}/" (symbol-value (find-symbol "*CENTRAL-REGISTRY*" "ASDF")) :test 'equal)`,
    );
    await client.run(systems.operateOnSystemForEmacs, "sc-system");
    return call(client, lab);
  };
}

const STOPPING = '(defun sc-fail (n) (error "boom ~a" n) n) (restart-case (list (sc-fail 1)) (sc-use () 5))';

/** Calls a function at a stop, with the index of a frame of SC-FAIL. */
function atStop(call: (stop: Stop, frame: number) => Promise<unknown>, code = STOPPING): Call {
  return async (_client, lab) => {
    const { stop } = await lab.stopIn(code);
    return call(stop, code === STOPPING ? await frameOf(stop, "SC-FAIL") : 0);
  };
}

/** Calls a function of the inspector that is open. */
function inspected(call: Call): Call {
  return async (client, lab) => {
    await client.run(inspecting.initInspector, '(vector "one" (list 2 3))');
    await client.run(inspecting.inspectNthPart, 0);
    return call(client, lab);
  };
}

/** Calls a function of the REPL. */
function inRepl(call: Call): Call {
  return async (client, lab) => {
    await client.run(repl.createRepl);
    return call(client, lab);
  };
}

/** Calls a function of the trace dialog after a traced call. */
function traced(call: Call): Call {
  return async (client, lab) => {
    const name = "cl-user::sc-add";
    await client.run(tracing.dialogToggleTrace, name);
    await values(client, "(sc-caller 5)");
    await call(client, lab);
    await client.run(tracing.dialogUntraceAll);
  };
}

/** Calls a function of the statistical profiler. */
function sampled(call: Call): Call {
  return async (client, lab) => {
    await client.run(profiling.swankSprofStart, "cpu");
    await values(client, "(loop repeat 5000000 sum (random 10))");
    await client.run(profiling.swankSprofStop);
    return call(client, lab);
  };
}

/** The position of a thread that runs until it is ended, in the list of the thread browser. */
async function victim(client: SwankClient): Promise<number> {
  const { thread } = await running(client);
  const position = (await client.run(image.listThreads)).findIndex(({ id }) => id === thread);
  if (position < 0) throw new Error("The thread is not in the list.");
  return position;
}

const NAME = "cl-user::sc-add";
const FORM = "(cl-user::sc-twice (cl:when 1 2))";
const ORIGIN = { buffer: "notes", position: 100, line: 7 };

const COMPILING: Calls<typeof compiling> = {
  compileStringForEmacs: (client) => client.run(compiling.compileStringForEmacs, "(defun sc-new () 1)", ORIGIN),
  compileMultipleStringsForEmacs: (client) =>
    client.run(compiling.compileMultipleStringsForEmacs, [
      { code: "(defun sc-one () 1)", buffer: "x", package: "CL-USER" },
    ]),
  compileFileForEmacs: async (client) => client.run(compiling.compileFileForEmacs, await inFile(), { load: true }),
  compileFileIfNeeded: async (client) => client.run(compiling.compileFileIfNeeded, await inFile()),
  disassembleForm: (client) => client.run(compiling.disassembleForm, "'cl-user::sc-add"),
};

const COMPLETION: Calls<typeof completion> = {
  simpleCompletions: (client) => client.run(completion.simpleCompletions, "mapc", "CL-USER"),
  completions: (client) => client.run(completion.completions, "m-v-b", "CL-USER"),
  completionsForCharacter: (client) => client.run(completion.completionsForCharacter, "Spac"),
  completionsForKeyword: (client) => client.run(completion.completionsForKeyword, ":t", ["find", "1", "x", null]),
  fuzzyCompletions: (client) => client.run(completion.fuzzyCompletions, "mvb", "CL-USER", { limit: 3 }),
  autodoc: (client) => client.run(completion.autodoc, ["mapcar", "f", null]),
  completeForm: (client) => client.run(completion.completeForm, ["find", null]),
};

const DEBUGGING: Calls<typeof debugging> = {
  throwToToplevel: atStop((stop) => stop.run(debugging.throwToToplevel)),
  debuggerInfoForEmacs: atStop((stop) => stop.run(debugging.debuggerInfoForEmacs, 0, 2)),
  backtrace: atStop((stop) => stop.run(debugging.backtrace, 0, 20)),
  framePackageName: atStop((stop, frame) => stop.run(debugging.framePackageName, frame)),
  frameLocalsAndCatchTags: atStop((stop, frame) => stop.run(debugging.frameLocalsAndCatchTags, frame)),
  frameSourceLocation: atStop((stop, frame) => stop.run(debugging.frameSourceLocation, frame)),
  evalStringInFrame: atStop((stop, frame) => stop.run(debugging.evalStringInFrame, "(+ n 1)", frame, "CL-USER")),
  pprintEvalStringInFrame: atStop((stop, frame) =>
    stop.run(debugging.pprintEvalStringInFrame, "(+ n 1)", frame, "CL-USER"),
  ),
  sdlbPrintCondition: atStop((stop) => stop.run(debugging.sdlbPrintCondition)),
  sldbDisassemble: atStop((stop, frame) => stop.run(debugging.sldbDisassemble, frame)),
  invokeNthRestart: atStop((stop) => stop.run(debugging.invokeNthRestart, 0)),
  invokeNthRestartForEmacs: atStop((stop) => stop.run(debugging.invokeNthRestartForEmacs, 1, 0)),
  sldbAbort: atStop((stop) => stop.run(debugging.sldbAbort)),
  sldbContinue: atStop((stop) => stop.run(debugging.sldbContinue), '(progn (break "here") 8)'),
  restartFrame: atStop((stop, frame) => stop.run(debugging.restartFrame, frame)),
  sldbReturnFromFrame: atStop((stop, frame) => stop.run(debugging.sldbReturnFromFrame, frame, "77")),
  sldbStep: atStop((stop) => stop.run(debugging.sldbStep, 0), '(progn (break "here") 8)'),
  sldbNext: atStop((stop) => stop.run(debugging.sldbNext, 0), '(progn (break "here") 8)'),
  sldbOut: atStop((stop) => stop.run(debugging.sldbOut, 0), '(progn (break "here") 8)'),
  toggleBreakOnSignals: async (client) => {
    await client.run(debugging.toggleBreakOnSignals);
    await client.run(debugging.toggleBreakOnSignals);
  },
  debugNthThread: async (client) => client.run(debugging.debugNthThread, await victim(client)),
  killNthThread: async (client) => client.run(debugging.killNthThread, await victim(client)),
  quitThreadBrowser: (client) => client.run(debugging.quitThreadBrowser),
};

const DEFINITION_CALLS: Calls<typeof definitions> = {
  findDefinitionsForEmacs: (client) => client.run(definitions.findDefinitionsForEmacs, NAME),
  findSourceLocationForEmacs: (client) =>
    client.run(definitions.findSourceLocationForEmacs, "#'cl-user::sc-add", "CL-USER"),
  xref: (client) => client.run(definitions.xref, "calls", NAME),
  xrefs: (client) => client.run(definitions.xrefs, ["calls", "macroexpands"], NAME),
  describeSymbol: (client) => client.run(definitions.describeSymbol, NAME),
  describeFunction: (client) => client.run(definitions.describeFunction, NAME),
  describeDefinitionForEmacs: (client) => client.run(definitions.describeDefinitionForEmacs, NAME, "function"),
  documentationSymbol: (client) => client.run(definitions.documentationSymbol, NAME),
  operatorArglist: (client) => client.run(definitions.operatorArglist, "cl:mapcar", "CL-USER"),
  hyperdoc: (client) => client.run(definitions.hyperdoc, NAME),
  aproposListForEmacs: (client) => client.run(definitions.aproposListForEmacs, "sc-a", { externalOnly: false }),
  mop: (client) => client.run(definitions.mop, "subclasses", "cl-user::sc-animal"),
};

const EVALUATION: Calls<typeof evaluation> = {
  evalAndGrabOutput: (client) => client.run(evaluation.evalAndGrabOutput, '(progn (princ "out") 1)'),
  interactiveEval: (client) => client.run(evaluation.interactiveEval, "(+ 3 4)"),
  interactiveEvalRegion: (client) => client.run(evaluation.interactiveEvalRegion, "1 (+ 3 4)"),
  pprintEval: (client) => client.run(evaluation.pprintEval, "(+ 3 4)"),
  reEvaluateDefvar: (client) => client.run(evaluation.reEvaluateDefvar, "(defvar cl-user::*sc-value* 3)"),
  valueForEditing: (client) => client.run(evaluation.valueForEditing, "cl-user::*sc-value*"),
  commitEditedValue: (client) => client.run(evaluation.commitEditedValue, "cl-user::*sc-value*", "42"),
  setPackage: (client) => client.run(evaluation.setPackage, "CL-USER"),
  loadFile: async (client) => client.run(evaluation.loadFile, await inFile()),
  undefineFunction: (client) => client.run(evaluation.undefineFunction, "cl-user::sc-caller"),
  uninternSymbol: (client) => client.run(evaluation.uninternSymbol, "SC-CALLER", "CL-USER"),
};

const EXPANDING: Calls<typeof expanding> = {
  swankMacroexpand1: (client) => client.run(expanding.swankMacroexpand1, FORM),
  swankMacroexpand: (client) => client.run(expanding.swankMacroexpand, FORM),
  swankMacroexpandAll: (client) => client.run(expanding.swankMacroexpandAll, FORM),
  swankCompilerMacroexpand1: (client) => client.run(expanding.swankCompilerMacroexpand1, FORM),
  swankCompilerMacroexpand: (client) => client.run(expanding.swankCompilerMacroexpand, FORM),
  swankExpand1: (client) => client.run(expanding.swankExpand1, FORM),
  swankExpand: (client) => client.run(expanding.swankExpand, FORM),
  swankFormatStringExpand: (client) => client.run(expanding.swankFormatStringExpand, '"~a"'),
  macrostepExpand1: (client) => client.run(expanding.macrostepExpand1, FORM),
  macroFormP: (client) => client.run(expanding.macroFormP, FORM),
};

const IMAGE: Calls<Omit<typeof image, "quitLisp">> = {
  connectionInfo: (client) => client.run(image.connectionInfo),
  listThreads: (client) => client.run(image.listThreads),
  threads: (client) => client.run(image.threads),
  processStart: (client) => client.run(image.processStart),
  defaultDirectory: (client) => client.run(image.defaultDirectory),
  setDefaultDirectory: async (client) => client.run(image.setDefaultDirectory, `${await systemFolder()}/`),
  updateIndentationInformation: (client) => client.run(image.updateIndentationInformation),
};

const INSPECTING: Calls<typeof inspecting> = {
  initInspector: (client) => client.run(inspecting.initInspector, '(vector "one" (list 2 3))'),
  inspectNthPart: inspected((client) => client.run(inspecting.inspectorReinspect)),
  inspectorCallNthAction: async (client) => {
    const code = "(let ((h (make-hash-table))) (setf (gethash 1 h) 2) h)";
    const table = await client.run(inspecting.initInspector, code);
    const action = table?.parts.find((part) => part.kind === "action");
    if (action?.kind !== "action") throw new Error("A hash table has actions.");
    await client.run(inspecting.inspectorCallNthAction, action.index);
  },
  inspectorRange: inspected((client) => client.run(inspecting.inspectorRange, 0, 2)),
  inspectorPop: inspected((client) => client.run(inspecting.inspectorPop)),
  inspectorNext: inspected((client) => client.run(inspecting.inspectorNext)),
  inspectorReinspect: inspected((client) => client.run(inspecting.inspectorReinspect)),
  inspectorToggleVerbose: inspected((client) => client.run(inspecting.inspectorToggleVerbose)),
  inspectorEval: inspected((client) => client.run(inspecting.inspectorEval, "(cl:list cl:*)")),
  inspectorHistory: inspected((client) => client.run(inspecting.inspectorHistory)),
  describeInspectee: inspected((client) => client.run(inspecting.describeInspectee)),
  pprintInspectorPart: inspected((client) => client.run(inspecting.pprintInspectorPart, 0)),
  quitInspector: inspected((client) => client.run(inspecting.quitInspector)),
  inspectInFrame: atStop((stop, frame) => stop.run(inspecting.inspectInFrame, "(+ n 1)", frame)),
  inspectFrameVar: atStop((stop, frame) => stop.run(inspecting.inspectFrameVar, frame, 0)),
  inspectCurrentCondition: atStop((stop) => stop.run(inspecting.inspectCurrentCondition)),
  inspectFrameFunction: atStop((stop, frame) => stop.run(inspecting.inspectFrameFunction, frame)),
  inspectNthRestart: atStop((stop) => stop.run(inspecting.inspectNthRestart, 0)),
};

const GONE = "(unless (find-package :sc-gone) (defpackage :sc-gone (:use :cl)))";

/** Calls a function with a package of the name SC-GONE. */
function withPackage(call: Call): Call {
  return async (client, lab) => {
    await values(client, GONE);
    return call(client, lab);
  };
}

const PACKAGES: Calls<typeof packages> = {
  listAllPackageNames: (client) => client.run(packages.listAllPackageNames),
  swankDeletePackage: withPackage((client) => client.run(packages.swankDeletePackage, "SC-GONE")),
  exportSymbolForEmacs: withPackage((client) => client.run(packages.exportSymbolForEmacs, "sc-new", "SC-GONE")),
  unexportSymbolForEmacs: withPackage((client) => client.run(packages.unexportSymbolForEmacs, "sc-new", "SC-GONE")),
  exportStructure: async (client) => {
    await values(client, "(defstruct sc-point x)");
    await client.run(packages.exportStructure, "sc-point", "CL-USER");
  },
};

const PROFILING: Calls<typeof profiling> = {
  toggleProfileFdefinition: (client) => client.run(profiling.toggleProfileFdefinition, NAME),
  profileBySubstring: (client) => client.run(profiling.profileBySubstring, "SC-CALL", "CL-USER"),
  swankProfilePackage: withPackage((client) => client.run(profiling.swankProfilePackage, "SC-GONE")),
  profileReport: (client) => client.run(profiling.profileReport),
  profileReset: (client) => client.run(profiling.profileReset),
  unprofileAll: (client) => client.run(profiling.unprofileAll),
  profiledFunctions: (client) => client.run(profiling.profiledFunctions),
  swankSprofStart: sampled(async () => undefined),
  swankSprofStop: sampled(async () => undefined),
  swankSprofGetCallGraph: sampled((client) => client.run(profiling.swankSprofGetCallGraph)),
  swankSprofDisassemble: sampled(async (client) => {
    const [row] = (await client.run(profiling.swankSprofGetCallGraph)).filter(({ index }) => index !== undefined);
    await client.run(profiling.swankSprofDisassemble, row?.index ?? 0);
  }),
};

const REPL: Calls<typeof repl> = {
  createRepl: (client) => client.run(repl.createRepl),
  listenerEval: inRepl((client) => client.run(repl.listenerEval, "(cl:+ 1 2)")),
  clearReplVariables: inRepl((client) => client.run(repl.clearReplVariables)),
  listenerGetValue: inRepl(async (client) => {
    await client.run(repl.listenerSaveValue, "cl:identity", "kept");
    await client.run(repl.listenerGetValue);
  }),
  listenerSaveValue: inRepl((client) => client.run(repl.listenerSaveValue, "cl:identity", "kept")),
  redirectTraceOutput: inRepl((client) => client.run(repl.redirectTraceOutput, 1)),
  createMrepl: (client) => client.run(repl.createMrepl, 1),
};

const SYSTEMS: Calls<typeof systems> = {
  listAsdfSystems: ofSystem((client) => client.run(systems.listAsdfSystems)),
  listAllSystemsInCentralRegistry: ofSystem((client) => client.run(systems.listAllSystemsInCentralRegistry)),
  operateOnSystemForEmacs: ofSystem((client) => client.run(systems.operateOnSystemForEmacs, "sc-system")),
  reloadSystem: ofSystem((client) => client.run(systems.reloadSystem, "sc-system")),
  asdfSystemFiles: ofSystem((client) => client.run(systems.asdfSystemFiles, "sc-system")),
  asdfSystemLoadedP: ofSystem((client) => client.run(systems.asdfSystemLoadedP, "sc-system")),
  asdfSystemDirectory: ofSystem((client) => client.run(systems.asdfSystemDirectory, "sc-system")),
  asdfDetermineSystem: ofSystem(async (client) => client.run(systems.asdfDetermineSystem, await inFile(), "CL-USER")),
  whoDependsOn: ofSystem((client) => client.run(systems.whoDependsOn, "sc-system")),
  deleteSystemFasls: ofSystem((client) => client.run(systems.deleteSystemFasls, "sc-system")),
  listQuicklispSystems: async (client) => {
    // none of the images has Quicklisp
    await client.run(systems.listQuicklispSystems).catch((error: unknown) => {
      if (!/already loaded/.test(String(error))) throw error;
    });
  },
};

const TRACING: Calls<typeof tracing> = {
  swankToggleTrace: (client) => client.run(tracing.swankToggleTrace, NAME),
  untraceAll: (client) => client.run(tracing.untraceAll),
  dialogToggleTrace: traced(async () => undefined),
  dialogUntraceAll: traced(async () => undefined),
  reportSpecs: traced((client) => client.run(tracing.reportSpecs)),
  reportTotal: traced((client) => client.run(tracing.reportTotal)),
  clearTraceTree: traced((client) => client.run(tracing.clearTraceTree)),
  reportPartialTree: traced((client) => client.run(tracing.reportPartialTree, "cl-user::sc-key")),
  reportTraceDetail: traced((client) => client.run(tracing.reportTraceDetail, 0)),
  inspectTracePart: traced((client) => client.run(tracing.inspectTracePart, 0, 0, "arg")),
};

async function called(call: Call, lab: Lab): Promise<undefined> {
  const client = await lab.client();
  await values(client, DEFINITIONS);
  await call(client, lab);
  return undefined;
}

function probes(subject: string, calls: Readonly<Record<string, Call>>): Probes {
  return Object.entries(calls).map(([name, call]) => [`${subject}.${name}`, (lab) => called(call, lab)]);
}

/** Each of Swank's functions that `swank-client/swank` describes, except the one that ends the image. */
export const SWANK_PROBES: Probes = [
  ...probes("evaluation", EVALUATION),
  ...probes("compiling", COMPILING),
  ...probes("expanding", EXPANDING),
  ...probes("definitions", DEFINITION_CALLS),
  ...probes("completion", COMPLETION),
  ...probes("debugging", DEBUGGING),
  ...probes("inspecting", INSPECTING),
  ...probes("image", IMAGE),
  ...probes("packages", PACKAGES),
  ...probes("repl", REPL),
  ...probes("systems", SYSTEMS),
  ...probes("tracing", TRACING),
  ...probes("profiling", PROFILING),
  [
    "image.quitLisp",
    async (lab) => {
      const client = await lab.client();
      await client.run(image.quitLisp).catch(() => undefined);
      await client.closed;
      await lab.end();
      return undefined;
    },
  ],
];
