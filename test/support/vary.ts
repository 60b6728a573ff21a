/** Returns a header `Vary` without `Accept-Encoding`, which it has only with a body of more than 1 KiB. */
export function withoutCoding(vary: unknown): string | undefined {
  const names = String(vary ?? '').split(', ');
  return names.filter((name) => name !== 'Accept-Encoding').join(', ') || undefined;
}
