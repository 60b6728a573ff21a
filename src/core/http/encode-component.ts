/** Percent-encodes all characters but ASCII letters, digits and `-_.~`, for URLs safe in shells, Markdown and HTML. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
