import type { PostResult } from '../model/results.ts';
import { escapeHtml, escapeLine } from './html/escape.ts';
import { toSafeUrl } from './html/links.ts';
import { renderPreviewTags } from './html/open-graph.ts';
import { renderPostQuote } from './html/post-quote.ts';
import { toThread } from './markdown/thread.ts';
import { headlinePost } from './summary.ts';

/**
 * Gives the post that was asked for as a small HTML page with Open Graph tags and a link to its
 * oEmbed document, for the crawlers of link previews. Without scripts, styles and pictures.
 */
export function renderPreviewPage(result: PostResult): string {
  const { asked } = toThread(result.posts);
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<title>${escapeLine(headlinePost(asked))}</title>`,
    '<meta name="viewport" content="width=device-width">',
    renderPreviewTags(asked, result.url),
    renderRelation('rel="canonical"', result.url),
    renderRelation('rel="alternate" type="application/json+oembed"', result.embedUrl),
    '</head>',
    '<body>',
    asked === undefined ? '' : renderPostQuote(asked),
    '</body>',
    '</html>',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function renderRelation(attributes: string, url: string): string {
  const safe = toSafeUrl(url);
  return safe === null ? '' : `<link ${attributes} href="${escapeHtml(safe)}">`;
}
