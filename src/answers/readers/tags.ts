/** Takes HTML and JSX tags and comments out of Markdown; what stands in code spans stays. */
export function stripTags(markdown: string): string {
  if (!markdown.includes('<')) return markdown.trim();
  return markdown
    .replaceAll(tagOrCode, (match, ticks: string | undefined) => (ticks === undefined ? '' : match))
    .trim();
}

/** A code span, a comment or a tag. Each repetition is bounded, so that no text takes long. */
const tagOrCode =
  /(`{1,3})[^`]{1,500}\1|<!--[\s\S]{0,5000}?-->|<\/?[A-Za-z][\w.:-]{0,60}(?:\s[^<>]{0,2000})?\/?>|<\/?>/g;
