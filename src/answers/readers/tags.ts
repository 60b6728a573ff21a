/** Takes HTML and JSX tags and comments out of Markdown; what stands in code spans stays. */
export function stripTags(markdown: string): string {
  if (!markdown.includes('<')) return markdown.trim();
  return markdown
    .replaceAll(tagOrCode, (match, ticks: string | undefined) => (ticks === undefined ? '' : match))
    .trim();
}

/** A code span, a comment or a tag. A comment that is not closed runs to the end. */
const tagOrCode =
  /(`{1,3})[^`]{1,500}\1|<!--[\s\S]*?(?:-->|$)|<\/?[A-Za-z][\w.:-]{0,60}(?:\s[^<>]{0,2000})?\/?>|<\/?>/g;
