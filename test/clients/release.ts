/** Returns whether a release (three numbers) is the same as or later than another one. */
export function isAtLeast(release: string, other: string): boolean {
  const parts = other.split('.').map(Number);
  const difference = release.split('.').map((part, at) => Number(part) - (parts[at] ?? 0));
  return (difference.find((one) => one !== 0) ?? 0) >= 0;
}
