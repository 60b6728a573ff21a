import type { Account } from '../../model/account.ts';
import { listProfileFacts, toAccountRow, toProfileHead } from '../blocks/account.ts';
import { writeAccount, writeFacts, writeWords } from '../html/blocks.ts';
import { escapeHtml, escapeLine } from '../html/escape.ts';
import { renderAvatar } from '../html/figures.ts';
import { joinParts, paragraph, renderList } from '../html/markup.ts';
import { renderParagraphs } from '../html/text.ts';
import { toLine } from '../markdown/characters.ts';
import { formatNumber } from '../markdown/layout.ts';
import { toListUrl } from './navigation.ts';
import type { PageView } from './view.ts';

const largeAvatar = 96;
const smallAvatar = 48;

/** Renders the head of an account's page, with its name as the title. */
export function renderProfileHead(account: Account, level: number, view: PageView): string {
  const { description, description_facets: facets = [], screen_name: handle } = account;
  const { facts, counts, details } = toProfileHead(account, view.full);
  const [open, close] = view.links.toTags(account.url);
  const linked = `${open}<bdi>${escapeLine(`@${handle}`)}</bdi>${close}`;
  const name = toLine(account.name).trim();
  const title = name === '' ? linked : `<bdi>${escapeLine(name)}</bdi>`;
  const links = counts.map(({ list, count, label }) => {
    const [start, end] = view.links.toTags(toListUrl(handle, list, view));
    return `<li>${start}<strong>${formatNumber(count)}</strong> ${label}${end}</li>`;
  });
  const tag = `h${Math.min(level, 6)}`;
  return `<header class="profile-head">\n${joinParts([
    renderBanner(account, view),
    renderPortrait(account, view, largeAvatar),
    `<${tag}>${title}</${tag}>`,
    name === '' ? '' : `<p class="handle">${linked}</p>`,
    renderParagraphs(description ?? '', facets, { toLinkTags: view.links.toTags }),
    paragraph(writeFacts(facts, view), 'facts'),
    links.length === 0 ? '' : `<ul class="numbers">\n${links.join('\n')}\n</ul>`,
    renderList(
      details.map((detail) => writeWords(detail, view)),
      'profile-facts',
    ),
  ])}\n</header>`;
}

function renderBanner({ banner_url: url }: Account, view: PageView): string {
  const source = url === null ? null : view.toPictureUrl(url);
  if (source === null) return '';
  return `<img class="banner" src="${escapeHtml(source)}" alt="" width="1500" height="500" decoding="async" referrerpolicy="no-referrer" />`;
}

/** Renders the profile picture, or the account's initial if no picture can be shown. */
function renderPortrait(account: Account, view: PageView, pixels = smallAvatar): string {
  const avatar = renderAvatar(account.avatar_url, view, pixels);
  if (avatar !== '') return avatar;
  const text = `${toLine(account.name)}${account.screen_name}`;
  const initial = /[\p{L}\p{N}\p{Emoji_Presentation}]/u.exec(text)?.[0] ?? '@';
  return `<span class="avatar initial" aria-hidden="true">${escapeLine(initial)}</span>`;
}

export function renderProfile(account: Account, view: PageView): string {
  const { description, description_facets: facets = [], avatar_url: avatar } = account;
  const facts = listProfileFacts(account, view.full).map((fact) => writeWords(fact, view));
  return `<div class="profile">\n${joinParts([
    paragraph(renderAvatar(avatar, view)),
    renderParagraphs(description ?? '', facets, { toLinkTags: view.links.toTags }),
    renderList(facts, 'profile-facts'),
  ])}\n</div>`;
}

/** Renders a list with pictures, follower counts and the start of each biography. */
export function renderAccountList(accounts: readonly Account[], view: PageView): string {
  const rows = accounts.map((account) => renderAccount(account, view));
  return `<ul class="accounts">\n${rows.join('\n')}\n</ul>`;
}

function renderAccount(account: Account, view: PageView): string {
  const { facts, biography, details } = toAccountRow(account, view.full);
  // The row has no direction of its own, so that all pictures are on the same side.
  return `<li>\n${joinParts([
    renderPortrait(account, view),
    `<p class="who">${writeAccount(account, view, true)}</p>`,
    paragraph(writeWords(biography, view)),
    paragraph(writeFacts([...facts, ...details], view), 'facts'),
  ])}\n</li>`;
}
