import type { Looks } from "../../../src/page/model.js";

/** What the panels show, as the server's looks have it. */

export type ProgramThreads = Looks["threads"]["result"];

export type ProgramThread = ProgramThreads["threads"][number];

export type Changes = Looks["changes"]["result"];

export type FoundChanges = Extract<Changes, { readonly status: "found" }>;

export type Change = FoundChanges["changes"][number];

export type ChangeState = Change["state"];

export type FileState = FoundChanges["files"][number];

export type HeapSummary = Looks["heap"]["result"];

export type Profile = Looks["profile"]["result"];

export type StackNode = NonNullable<Profile["stacks"]>["nodes"][number];

export type Trace = Looks["trace"]["result"];

export type RecordedThread = Trace["threads"][number];

export type RecordedCall = Extract<RecordedThread["rows"][number], { readonly kind: "call" }>;

export type RecordedCondition = Extract<RecordedThread["rows"][number], { readonly kind: "condition" }>;
