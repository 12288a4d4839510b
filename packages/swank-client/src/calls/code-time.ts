/** Milliseconds that the image has to answer a question about code. It may have to read many files. */
export const CODE_TIME = 60_000;
