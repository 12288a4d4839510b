import { DEBUGGER } from "./debugger-cases.js";
import { INPUT } from "./input-cases.js";
import type { MessageCase } from "./message-case.js";
import { NOTICES } from "./notice-cases.js";
import { ODD } from "./odd-cases.js";
import { OUTPUT } from "./output-cases.js";
import { REPLIES } from "./reply-cases.js";

/** Every event of the protocol in every shape that versions 2.24 to 2.32 give it, and what does not fit. */
export const MESSAGE_CASES: readonly MessageCase[] = [...REPLIES, ...DEBUGGER, ...OUTPUT, ...INPUT, ...NOTICES, ...ODD];
