/**
 * Encodes a value for a query or a path segment so that it can also stand in a quoted shell word, in
 * Markdown and in HTML: of ASCII, only letters, digits and `-_.~` stay.
 */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
