import type { Sexp } from "../types.js";
import type { SourceNode } from "./types.js";

/** A branch of the tree that is still open, or the text itself, which has no parent. */
export class Frame {
  readonly kind: "source" | "list" | "prefix" | "conditional";
  readonly parent: Frame | undefined;
  readonly start: number;
  readonly open: string;
  readonly children: SourceNode[] = [];
  /** The data of `children`, without those of excluded conditionals. */
  readonly data: Sexp[] = [];
  /** The number of data before the dot; -1 without a dot. */
  dot = -1;
  /** Whether Lisp may skip the branch, so that errors in it give opaque data. Branches inside inherit it. */
  isSkippable: boolean;
  /** Whether Lisp may skip a child, so that the number of data is unknown. */
  hasUndecided = false;
  /** Whether an error was tolerated, which makes the datum opaque. */
  isOpaque = false;
  /** Only for conditionals, once their expression is read. */
  isIncluded: boolean | undefined;

  constructor(kind: Frame["kind"], parent: Frame | undefined, start: number, open: string) {
    this.kind = kind;
    this.parent = parent;
    this.start = start;
    this.open = open;
    this.isSkippable = parent?.isSkippable ?? false;
  }

  /** Whether the branch ends with its last datum. Lists end with a parenthesis instead. */
  get isComplete(): boolean {
    const { kind, data } = this;
    return (kind === "prefix" && data.length === 1) || (kind === "conditional" && data.length === 2);
  }

  /** Whether an error directly in this branch makes its datum opaque. */
  get isTolerant(): boolean {
    return this.isSkippable || this.hasUndecided;
  }
}
