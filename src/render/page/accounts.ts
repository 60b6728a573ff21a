import type { Account } from '../../model/account.ts';
import { listProfileFacts, toAccountRow } from '../blocks/account.ts';
import { writeAccount, writeFacts, writeWords } from '../html/blocks.ts';
import { renderAvatar } from '../html/figures.ts';
import { joinParts, paragraph, renderList } from '../html/markup.ts';
import { renderParagraphs } from '../html/text.ts';
import { renderPortrait } from './profile.ts';
import type { PageView } from './view.ts';

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
