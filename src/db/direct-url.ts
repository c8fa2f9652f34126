/**
 * Neon's direct host in place of its pooled one (`ep-x-pooler.…` becomes `ep-x.…`): behind the pool a session
 * changes between transactions, and the migrator's lock with it (https://neon.com/docs/connect/connection-pooling).
 */
export function directUrl(url: string): string {
  const direct = new URL(url);
  direct.hostname = direct.hostname.replace(/^([^.]+)-pooler\./, '$1.');
  return direct.toString();
}
