const opening = '<think>';
const closing = '</think>';

/**
 * Creates a filter for the words of a model that thinks aloud before it answers: what stands between
 * `<think>` and `</think>` at the start is left out. Takes text piece by piece, and gives what is said.
 */
export function createThoughtFilter(): (piece: string) => string {
  let held = '';
  let isSaying = false;
  return (piece) => {
    if (isSaying) return piece;
    held = (held + piece).trimStart();
    const said = afterThoughts(held);
    isSaying = said !== undefined;
    // What was thought is not needed any more; the closing tag may be parted.
    if (held.startsWith(opening))
      held = opening + held.slice(opening.length).slice(-closing.length);
    return said ?? '';
  };
}

/** Gives what is said; undefined while it is not known yet, or thought. */
function afterThoughts(text: string): string | undefined {
  if (opening.startsWith(text)) return undefined;
  if (!text.startsWith(opening)) return text;
  const end = text.indexOf(closing);
  return end < 0 ? undefined : text.slice(end + closing.length);
}
