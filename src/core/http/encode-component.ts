/**
 * Percent-encodes all characters except ASCII letters, digits and `-_.~`, so that URLs need no
 * escaping in shells, Markdown and HTML.
 */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
