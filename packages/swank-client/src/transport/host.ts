/** An address that only processes of the same machine can reach (RFC 1122, RFC 4291), also one of IPv4 in IPv6's notation. */
export function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127(?:\.\d+){3}$/i.test(address);
}

/** As people write it: addresses of IPv6 stand in brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
