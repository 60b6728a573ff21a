/**
 * Percent-encodes a value for a URL that is safe in shell commands, Markdown and HTML: of ASCII, only letters, digits
 * and `-_.~` stay.
 */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
