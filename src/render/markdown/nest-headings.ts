/** Returns the level on the page of the next heading, which had the given level in the text of others. */
export type NestHeading = (level: number) => number;

const deepest = 6;

/** Creates levels for the headings of one text, which follow each other below a heading of level `above` without gaps. */
export function nestHeadings(above: number): NestHeading {
  const open: number[] = [];
  return (level) => {
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    return Math.min(above + open.length, deepest);
  };
}
