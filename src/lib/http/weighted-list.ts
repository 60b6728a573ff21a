/** Item of a header such as `Accept`: lower-case name, weight and position. */
export interface WeightedItem {
  readonly name: string;
  /** Weight from 0 (not acceptable) to 1 (RFC 9110 §12.4.2). An invalid weight counts as 0. */
  readonly quality: number;
  readonly position: number;
}

const maxItems = 50;

/** Parses names with weights, such as `gzip, br;q=0.5`. Ignores all items after the first 50. */
export const parseWeighted = (header: string): readonly WeightedItem[] =>
  header.split(',', maxItems).map(parseItem);

function parseItem(text: string, position: number): WeightedItem {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((part) => part.startsWith('q='));
  const quality = q === undefined ? 1 : Number(q.slice(2));
  return { name, position, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
