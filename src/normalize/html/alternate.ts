import { type Token, Tokenizer } from 'parse5';
import { attributeOf, ignored } from './elements.ts';

const maxHead = 131_072; // UTF-16 code units of a page that are searched

/** Returns the `href` of the page's first `rel="alternate"` link of such a type; `null` without. */
export function findAlternateLink(
  html: string,
  isWanted: (contentType: string) => boolean,
): string | null {
  let found: string | null = null;
  const onStartTag = (token: Token.TagToken) => {
    if (found !== null || token.tagName !== 'link') return;
    const relations = attributeOf(token, 'rel').toLowerCase().split(/\s+/);
    const href = attributeOf(token, 'href');
    if (!relations.includes('alternate') || href === '') return;
    if (isWanted(attributeOf(token, 'type'))) found = href;
  };
  const onText = () => {};
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onEndTag: onText,
      onCharacter: onText,
      onWhitespaceCharacter: onText,
      ...ignored,
      onStartTag,
    },
  );
  const body = html.search(/<body[\s>]/i);
  tokenizer.write(html.slice(0, Math.min(body < 0 ? html.length : body, maxHead)), true);
  return found;
}
