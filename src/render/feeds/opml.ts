import { profileUrl } from '../../model/addresses/urls.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { RenderContext } from '../context.ts';
import { toFormatUrl } from './urls.ts';
import { emptyElement, parentElement, textElement } from './xml.ts';

export const opmlMediaType = 'text/x-opml; charset=utf-8';

/** Renders the Atom feeds of accounts as OPML 2.0, https://opml.org/spec2.opml. */
export function renderOpml(
  accounts: readonly AccountReference[],
  { baseUrl }: RenderContext,
): string {
  const outlines = accounts.map(({ platform, handle }) =>
    emptyElement('outline', {
      // The type of all feeds in a subscription list, whatever their format.
      type: 'rss',
      text: `@${handle}`,
      title: `@${handle}`,
      xmlUrl: toFormatUrl(`${baseUrl}/api/v1/profiles/${encodeURIComponent(handle)}`, 'atom'),
      htmlUrl: profileUrl(platform, handle, baseUrl),
    }),
  );
  const head = parentElement('head', [textElement('title', 'Accounts on Perch')]);
  const opml = parentElement('opml', [head, parentElement('body', outlines)], { version: '2.0' });
  return `<?xml version="1.0" encoding="utf-8"?>\n${opml}\n`;
}
