import MarkdownIt, { type Token } from 'markdown-it';
import { fc, runs as propertyRuns } from './fast-check.ts';

/** Markdown parser with HTML and tables that does not normalize URLs and accepts all links. */
const parser = new MarkdownIt({ html: true, linkify: false });
parser.normalizeLink = (url) => url;
parser.normalizeLinkText = (url) => url;
parser.validateLink = () => true;

/** Number of inputs for a property. */
export const runs = { numRuns: propertyRuns(1000) };

/** Parses Markdown into a flat list of block and inline tokens. */
export function parseMarkdown(markdown: string): readonly Token[] {
  return parser.parse(markdown, {}).flatMap(flatten);
}

function flatten(token: Token): Token[] {
  if (token.type !== 'inline' && token.type !== 'image') return [token];
  return [...(token.type === 'image' ? [token] : []), ...(token.children ?? []).flatMap(flatten)];
}

/** Returns the visible text: paragraphs separated by an empty line, hard breaks as line feeds. */
export function visibleText(markdown: string): string {
  const written: Readonly<Record<string, string>> = { paragraph_close: '\n\n', hardbreak: '\n' };
  return parseMarkdown(markdown)
    .map((token) => written[token.type] ?? token.content)
    .join('')
    .trimEnd();
}

/** Returns the unique token types of a Markdown text, sorted. */
export function tokenTypes(markdown: string): readonly string[] {
  return [...new Set(parseMarkdown(markdown).map((token) => token.type))].sort();
}

/** Returns the text of each element of a kind, such as `strong` or `link`. */
export function textsWithin(markdown: string, kind: string): readonly string[] {
  const texts: string[] = [];
  let depth = 0;
  for (const token of parseMarkdown(markdown)) {
    if (token.type === `${kind}_close`) depth -= 1;
    if (depth > 0) texts.push(`${texts.pop() ?? ''}${token.content}`);
    if (token.type === `${kind}_open`) {
      depth += 1;
      texts.push('');
    }
  }
  return texts;
}

/** Returns the expected visible text of a post. */
export function expectedText(text: string): string {
  const lines = text.split('\n').map((line) => {
    const shown = line.replace(/[\p{Zs}\t]+$/u, '');
    return shown.replace(/^[\p{Zs}\t]+/u, (indent) => '\u00a0'.repeat(width(indent)));
  });
  return lines
    .join('\n')
    .replace(/\n{2,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '');
}

function width(indent: string): number {
  return indent.replaceAll('\t', '    ').length;
}

const pieces = [
  ...'\\`*_[]<>~&|#+-=:$%!^.(){}"\'/@,;?0123456789abcxyzABC \t\n',
  ...['\n', '\n\n', '  ', ' ', '\u00a0', '\u3000', '\u200b', 'é', 'ß', 'я', '字', '「', '」', '。'],
  ...['א', 'ש', 'ع', 'م', '😀', '👩‍💻', '€', '¡', '“', '”', '…', '—', '𝒳', '𐄀'],
  ...'** __ ~~ ``` ~~~ $$ == %% [[ ]( ]: ![ --- *** === :- |--|--| [^1]'.split(' '),
  ...'<b> </b> <script> <!-- --> <? &amp; &#60; &lt; &copy;'.split(' '),
  ...'www. WWW. http: https:// ftp:// // xmpp: mailto: .com a.co/ @ www.a.example'.split(' '),
  ...'http://a.example/b_c https://a.example mailto:a@b.example javascript:x'.split(' '),
  ...['<a href="', '# ', '## ', '> ', '- ', '+ ', '* ', '1. ', '12) ', '| - |', '    ', '[x] '],
  ...['@user@host.example', 'a@b.cc', 'www.a.b/', '<img src=x onerror=alert(1)>', '/<b', '&quot;'],
];

/** Texts with many characters and fragments that are special in Markdown. */
export const hostileText = fc
  .array(fc.constantFrom(...pieces), { maxLength: 24 })
  .map((chosen) => chosen.join(''));

/** Single-line hostile texts with visible characters. */
export const hostileLine = hostileText
  .map((text) => text.replace(/[\p{Zs}\t\n]+/gu, ' ').trim())
  .filter((line) => line !== '');
