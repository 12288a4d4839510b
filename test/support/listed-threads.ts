import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import { blocks } from "./mcp-results.js";

/** Anything that calls tools. */
export interface ToolCaller {
  call(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
}

const threadsMeta = z.object({
  "swank-mcp/threads": z.object({
    threads: z.array(
      z.looseObject({
        id: z.number(),
        name: z.string(),
        whose: z.string(),
        owner: z.string().optional(),
        level: z.number(),
        state: z.string(),
        frames: z.array(z.string()).optional(),
        unread: z.string().optional(),
      }),
    ),
    count: z.number(),
    deadlocks: z.array(z.string()),
  }),
});

/** The data of an answer of list-threads, and its text. */
export type ListedThreads = z.output<typeof threadsMeta>["swank-mcp/threads"] & { readonly text: string };

/** The answer of list-threads: its text, and its data. */
export async function listThreads(server: ToolCaller, args: Record<string, unknown> = {}): Promise<ListedThreads> {
  const result = await server.call("list-threads", args);
  expect(result.isError, JSON.stringify(result)).to.equal(false);
  return { ...threadsMeta.parse(result._meta)["swank-mcp/threads"], text: blocks(result).join("\n--\n") };
}

/** Lists until the named threads are in these states. */
export async function listThreadsWhen(
  server: ToolCaller,
  states: Readonly<Record<string, string>>,
  args: Record<string, unknown> = {},
): Promise<ListedThreads> {
  for (;;) {
    const listed = await listThreads(server, args);
    const isSo = ([name, state]: readonly [string, string]) =>
      listed.threads.some((thread) => thread.name === name && thread.state === state);
    if (Object.entries(states).every(isSo)) return listed;
  }
}

/** Lists with stacks until there was time for all of them. On a busy machine, threads answer late. */
export async function listStacks(server: ToolCaller, stacks: number): Promise<ListedThreads> {
  for (;;) {
    const listed = await listThreads(server, { stacks });
    if (!listed.threads.some(({ unread }) => unread === "silent" || unread === "late")) return listed;
  }
}

/** Sixteen threads that compute, allocate, lock, and compile, each counting its rounds. All run: newer versions of SBCL list a thread only then. */
export const BUSY_THREADS = `
(defvar *rounds* (make-array 16 :initial-element 0))
(defvar *shared* (sb-thread:make-mutex :name "shared"))
(defun work (i)
  (case (mod i 4)
    (0 (loop repeat 1000 sum (sqrt (random 100.0))))
    (1 (length (loop repeat 1000 collect (make-string 50))))
    (2 (sb-thread:with-mutex (*shared*) (format nil "~a" i)))
    (3 (compile nil \`(lambda (x) (+ x ,i))))))
(dotimes (i 16)
  (let ((i i))
    (sb-thread:make-thread (lambda () (loop (work i) (incf (svref *rounds* i)))) :name (format nil "busy-~d" i))))
(loop until (every #'plusp *rounds*) do (sleep 0.01))
nil`;

/** Waits until all sixteen have gone on, or until the test's time is over. */
export const ALL_GO_ON =
  "(let ((before (copy-seq *rounds*))) (loop until (every #'< before *rounds*) do (sleep 0.01)) (count-if #'plusp *rounds*))";
