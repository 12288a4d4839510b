/** The name of a test file: its source or its compiled file. */
const TEST_FILE = /\.test\.(?:ts|js|mjs)$/;

/**
 * Separates the test files among the arguments of `npm test` from mocha's options.
 *
 * @param {readonly string[]} args
 * @returns {{ files: string[], options: string[] }} `files` are compiled ones
 */
export function separate(args) {
  return {
    files: args.filter((arg) => TEST_FILE.test(arg)).map(compiledFile),
    options: args.filter((arg) => !TEST_FILE.test(arg)),
  };
}

/**
 * Returns mocha's arguments for a run of all tests or of the named files.
 *
 * @param {readonly string[]} args as after `npm test --`: test files, compiled or not, and mocha's options
 * @param {string} configFile
 * @param {Record<string, unknown>} config content of that file
 * @returns {string[]}
 */
export function mochaArguments(args, configFile, config) {
  const { files, options } = separate(args);
  if (files.length === 0) return ["--config", configFile, ...args];
  // Mocha would add the files of its configuration to the named ones, so the other settings are passed as arguments.
  const { spec: _spec, ignore: _ignore, ...settings } = config;
  return ["--no-config", ...Object.entries(settings).flatMap(optionArguments), ...options, ...files];
}

/** @param {string} file */
function compiledFile(file) {
  return file.endsWith(".ts") ? file.replace(/^(?:\.\/)?test\//, "test/dist/").replace(/\.ts$/, ".js") : file;
}

/** @param {[string, unknown]} setting */
function optionArguments([name, value]) {
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return value === true ? [option] : [option, String(value)];
}
