/**
 * Turns search text into an FTS5 expression that asks for all its words. Every word and "phrase" is
 * quoted, so no input can be read as FTS5 syntax; undefined when there is no word to ask for.
 */
export function toMatchExpression(text: string): string | undefined {
  const terms = [...text.matchAll(/"([^"]+)"|[^\s"]+/gu)].map((match) => match[1] ?? match[0]);
  const words = terms.filter((term) => /[\p{L}\p{N}]/u.test(term));
  if (words.length === 0) return undefined;
  return words.map((word) => `"${word.replaceAll('\u0000', ' ')}"`).join(' ');
}
