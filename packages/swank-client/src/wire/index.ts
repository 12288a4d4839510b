export { decodeMessage } from "./decode-message.js";
export { type ClientMessage, encodeMessage, type RequestThread } from "./encode-message.js";
export { FrameDecoder, type FrameDecoderOptions } from "./frame-decoder.js";
export { encodeFrame, HEADER_LENGTH, MAX_PAYLOAD_LENGTH } from "./frame-encoder.js";
export { printMessage } from "./print-message.js";
export { readMessage } from "./read-message.js";
