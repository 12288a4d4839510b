/** Swank's default port (swank.lisp, `default-server-port`). */
const DEFAULT_PORT = 4005;
const LAST_PORT = 65_535;

/** The form that makes an image accept any number of connections on a port. */
export function listenForm(port: number, options = ""): string {
  return `(swank:create-server :port ${port} :dont-close t${options})`;
}

/** A port for another server next to the one that was tried. */
export function portBeside(port = DEFAULT_PORT): number {
  return port === LAST_PORT ? port - 1 : port + 1;
}
