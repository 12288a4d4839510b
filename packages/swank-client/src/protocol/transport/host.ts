/** True for an address that only processes of the same machine can reach (RFC 1122, RFC 4291), including IPv4 in IPv6 notation. */
export function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127(?:\.\d+){3}$/i.test(address);
}

/** The usual notation, with IPv6 addresses in brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
