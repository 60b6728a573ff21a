/** Returns the members that are known, for optional ones of the model: `null` is left out. */
export function known<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => (value ?? null) !== null);
  // What is left of a T are members of it that are not null.
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}
