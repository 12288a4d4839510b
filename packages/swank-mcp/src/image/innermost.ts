import type { DebuggedStop } from "./lisp-port.js";

/** The stops of threads at their deepest level, the latest last. */
export function innermost<S extends Pick<DebuggedStop, "thread" | "level">>(stops: readonly S[]): readonly S[] {
  return stops.filter((stop) => !stops.some(({ thread, level }) => thread === stop.thread && level > stop.level));
}
