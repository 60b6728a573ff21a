export function omitNull<T extends object>(
  members: T,
): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => (value ?? null) !== null);
  // The remaining entries are members of `T` that are neither `null` nor `undefined`.
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}
