const ringCentralHosts = new Set(['platform.ringcentral.com', 'media.ringcentral.com']);
const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The URL if a token may be sent there: https on RingCentral's own hosts or the configured server's, and plain
 * http only from a loopback server to loopback. The SDK adds the token for any host, so this comes first.
 * By `hostname`, since a contentUri may carry `:443`.
 *
 * @param server the account's `server`, itself checked by `isAllowedServer`
 */
export function allowedUrl(text: string, server: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { hostname: serverHost } = new URL(server);
  if (url.username !== '' || url.password !== '') return undefined;
  if (loopbackHosts.has(serverHost)) return loopbackHosts.has(url.hostname) ? url : undefined;
  const known = url.hostname === serverHost || ringCentralHosts.has(url.hostname);
  return known && url.protocol === 'https:' && url.port === '' ? url : undefined;
}

/** https anywhere (a parameter is written by an operator), plain http only to this machine. */
export function isAllowedServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port } = new URL(text);
  return (protocol === 'https:' && port === '') || (protocol === 'http:' && loopbackHosts.has(hostname));
}
