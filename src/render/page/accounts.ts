import type { Account } from '../../model/account.ts';
import { listProfileFacts, toAccountRow } from '../blocks/account.ts';
import { writeAccount, writeFacts, writeWords } from '../html/blocks.ts';
import { renderAvatar } from '../html/figures.ts';
import { joinParts, paragraph, renderList } from '../html/markup.ts';
import { renderParagraphs } from '../html/text.ts';
import type { PageView } from './view.ts';

/** Renders an account's picture, biography and profile fields. */
export function renderProfile(account: Account, view: PageView): string {
  const { description, description_facets: facets = [], avatar_url: avatar } = account;
  const facts = listProfileFacts(account, view.full).map((fact) => writeWords(fact, view));
  return `<div class="profile">\n${joinParts([
    paragraph(renderAvatar(avatar, view)),
    renderParagraphs(description ?? '', facets, { toLinkTags: view.links.toTags }),
    renderList(facts, 'profile-facts'),
  ])}\n</div>`;
}

/** Renders accounts as a list with follower counts and the start of each biography. */
export function renderAccountList(accounts: readonly Account[], view: PageView): string {
  return renderList(
    accounts.map((account) => renderAccount(account, view)),
    'accounts',
  );
}

function renderAccount(account: Account, view: PageView): string {
  const { facts, biography, details } = toAccountRow(account, view.full);
  const avatar = renderAvatar(account.avatar_url, view);
  return joinParts([
    paragraph(`${avatar}${writeAccount(account, view, true)}`),
    paragraph(writeFacts(facts, view), 'facts'),
    paragraph(writeWords(biography, view)),
    paragraph(writeFacts(details, view), 'facts'),
  ]);
}
