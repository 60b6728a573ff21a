/**
 * Returns a text without the given characters at its end. Takes linear time, unlike a pattern such
 * as `/,+$/`, which tries every comma of a run as its start.
 *
 * @param characters Characters of one UTF-16 unit each.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
