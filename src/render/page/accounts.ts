import type { Account } from '../../model/account.ts';
import type { Status } from '../../model/post.ts';
import { escapeLine } from '../html/escape.ts';
import { renderInline, renderParagraphs } from '../html/text.ts';
import { cutLine, toLine } from '../markdown/characters.ts';
import { formatCount, toMinute } from '../markdown/layout.ts';
import type { PageLinks } from './links.ts';
import { joinFacts, joinParts, paragraph, renderList, renderTime } from './markup.ts';
import { renderAvatar } from './media.ts';
import type { PageView } from './view.ts';

/**
 * Renders the name of an account, followed by the account's handle, which is a link. If there is no
 * name, renders only the handle.
 */
export function renderAuthor(
  { name, screen_name: handle, url }: Account,
  { links }: PageView,
): string {
  const [open, close] = links.toTags(url);
  const shown = `${open}<bdi>@${escapeLine(handle)}</bdi>${close}`;
  return toLine(name) === '' ? shown : `<bdi>${escapeLine(name)}</bdi> ${shown}`;
}

/**
 * Returns `copied from` with a link to the server from which a post or account was copied; `null`
 * if the post or account is not a copy.
 */
export const renderOrigin = (
  { copied_from: source }: Status | Account,
  links: PageLinks,
): string | null =>
  source === undefined ? null : `copied from ${links.link(source.host, source.url)}`;

/** Renders an account's pictures, biography and profile fields. */
export function renderProfile(account: Account, view: PageView): string {
  const { description, description_facets: facets = [], avatar_url: avatar } = account;
  const toLinkTags = view.links.toTags;
  const facts = [...factsOf(account, view), ...(view.full ? extraFactsOf(account, view) : [])];
  return `<div class="profile">\n${joinParts([
    paragraph(renderAvatar(avatar, view)),
    renderParagraphs(description ?? '', facets, { toLinkTags }),
    renderList(facts.filter((fact) => fact !== null && fact !== '') as string[], 'profile-facts'),
  ])}\n</div>`;
}

const labelled = (label: string, html: string | null) => (html ? `${label}: ${html}` : null);

function factsOf(account: Account, view: PageView): readonly (string | null)[] {
  const { location, website, joined, url } = account;
  const { links } = view;
  return [
    labelled('Profile', links.link(url, url)),
    renderOrigin(account, links),
    labelled('Location', location && escapeLine(location)),
    // Shows the actual URL, because a platform's display text can look like another URL.
    labelled('Website', website && links.link(website.url, website.url)),
    labelled('Joined', joined && renderDay(joined, view)),
    joinFacts([
      formatCount(account.followers, 'follower', 'followers'),
      formatCount(account.following, 'following', 'following'),
      formatCount(account.statuses, 'post', 'posts'),
    ]),
    describeVerification(account),
    account.protected ? 'Protected: only approved followers see its posts' : null,
  ];
}

const renderDay = (time: string, { full }: Pick<PageView, 'full'>) =>
  full ? renderTime(time) : (toMinute(time)?.slice(0, 10) ?? escapeLine(time));

function extraFactsOf(account: Account, view: PageView): readonly (string | null)[] {
  const { avatar_url: avatar, banner_url: banner } = account;
  const pictures = Object.entries({ avatar, banner }).map(
    ([name, url]) => url && view.links.link(name, url),
  );
  return [
    joinFacts([
      formatCount(account.likes, 'like', 'likes'),
      formatCount(account.media_count, 'media item', 'media items'),
    ]),
    labelled('Pictures', joinFacts(pictures)),
    labelled('ID', escapeLine(account.id)),
  ];
}

function describeVerification({ verification: { verified, type } }: Account): string | null {
  if (!verified) return null;
  return type === null ? 'Verified' : `Verified: ${escapeLine(type)}`;
}

const maxBiography = 160; // maximum length in code points of a biography in a list: X's own limit

/** Renders accounts as a list with follower counts and the start of each biography. */
export function renderAccountList(accounts: readonly Account[], view: PageView): string {
  return renderList(
    accounts.map((account) => renderAccount(account, view)),
    'accounts',
  );
}

function renderAccount(account: Account, view: PageView): string {
  const { location, joined, following, statuses } = account;
  const facts = joinFacts([
    formatCount(account.followers, 'follower', 'followers'),
    describeVerification(account),
    account.protected ? 'Protected' : null,
    renderOrigin(account, view.links),
  ]);
  const further = joinFacts([
    labelled('Location', location && escapeLine(location)),
    labelled('Joined', joined && renderDay(joined, { full: false })),
    formatCount(following, 'following', 'following'),
    formatCount(statuses, 'post', 'posts'),
  ]);
  return joinParts([
    paragraph(
      `${renderAvatar(account.avatar_url, view)}<strong>${renderAuthor(account, view)}</strong>`,
    ),
    paragraph(facts, 'facts'),
    paragraph(describeBiography(account, view)),
    view.full ? paragraph(further, 'facts') : null,
  ]);
}

function describeBiography({ description }: Account, { full, links }: PageView): string {
  const line = toLine(description ?? '');
  const shown = full ? line : cutLine(line, maxBiography);
  // A shortened biography can end in a shortened URL, which must not become a link.
  return shown === line ? renderInline(line, [], { toLinkTags: links.toTags }) : escapeLine(shown);
}
