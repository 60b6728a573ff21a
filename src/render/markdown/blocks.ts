import { trimEndOf } from '../../lib/text.ts';
import type { Account } from '../../model/account.ts';
import type { Poll, Post } from '../../model/post.ts';
import {
  type Block,
  levelOf,
  listProfileFacts,
  type MediaItem,
  type StyledText,
  toAccountRow,
  type Words,
} from '../blocks/block.ts';
import { toLine, toVisibleText } from './characters.ts';
import { escapeCell, escapeInline, escapeLine } from './escape.ts';
import {
  formatDay,
  formatMinute,
  formatNumber,
  joinBlocks,
  joinFacts,
  joinLines,
  listItem,
  quoteBlock,
  separateTemplates,
} from './layout.ts';
import { image, link, linkUrl, wrapLink } from './links.ts';
import { renderHeading, renderLine, renderText } from './text.ts';
import { cleanMarkdown } from './verbatim.ts';

/** Writes blocks as CommonMark with GitHub tables. */
export const writeBlocks = (blocks: readonly Block[]): string => joinBlocks(blocks.map(writeBlock));

export const writeFacts = (facts: readonly Words[]): string =>
  joinFacts(facts.map((fact, at) => writeWords(fact, at === 0)));

/** Writes words; `isStart`: whether they start the line, which needs more escapes. */
export function writeWords(words: Words, isStart = false): string {
  if (typeof words === 'string') return words;
  if ('length' in words) return words.map((part) => writeWords(part)).join('');
  switch (words.type) {
    case 'bold':
      return `**${words.words}**`;
    case 'italic':
      return `*${words.words}*`;
    case 'plain':
      return isStart ? escapeLine(words.text) : escapeInline(words.text);
    case 'prose':
      return renderLine(words.text);
    default:
      return writeReference(words);
  }
}

type Reference = Extract<Words, { type: 'link' | 'url' | 'time' | 'account' | 'handle' }>;

function writeReference(words: Reference): string {
  switch (words.type) {
    case 'link':
      return link(words.text, words.url);
    case 'url':
      return linkUrl(words.url);
    case 'account':
      return writeAccount(words.account, words.isBold ? '**' : '');
    case 'handle':
      return link(`@${words.account.screen_name}`, words.account.url);
    case 'time': {
      const shown = words.precision === 'day' ? formatDay(words.time) : formatMinute(words.time);
      return words.url === null ? shown : link(shown, words.url);
    }
  }
}

function writeAccount(account: Account, emphasis: '' | '**'): string {
  const name = escapeInline(account.name);
  const handle = link(`@${account.screen_name}`, account.url);
  return name === '' ? handle : `${emphasis}${name}${emphasis} (${handle})`;
}

function writeBlock(block: Block): string {
  switch (block.type) {
    case 'line':
      return writeLine(block);
    case 'text':
      return renderText(block.text, block.annotations);
    case 'media':
      return joinBlocks(block.items.map(writeMedia));
    case 'poll':
      return joinBlocks([writeChoices(block.choices), writeFacts(block.facts)]);
    case 'box':
      return writeBox(block);
    default:
      return writeArticleBlock(block);
  }
}

function writeLine({ role, facts }: Extract<Block, { type: 'line' }>): string {
  const written = writeFacts(facts);
  if (role === 'title') return `**${written}**`;
  return role === 'context' || role === 'remark' ? `*${written}*` : written;
}

function writeBox({ label, blocks }: Extract<Block, { type: 'box' }>): string {
  const written = writeBlocks(blocks);
  if (label !== null) return quoteBlock(`**${writeWords(label)}:** ${written}`);
  return written === '' ? '' : quoteBlock(written);
}

function writeMedia({ item, caption, details }: MediaItem): string {
  const preview = item.thumbnail_url ?? null;
  const isLink = preview === null || item.type === 'audio' || item.type === 'file';
  const linked = isLink ? link(caption, item.url) : wrapLink(image(caption, preview), item.url);
  const shown = item.type === 'photo' ? image(caption, item.url) : linked;
  return joinLines([shown, writeFacts(details)]);
}

function writeChoices(choices: Poll['choices']): string {
  const rows = choices.map(({ label, count, percentage }) => {
    const votes = count === null ? '–' : formatNumber(count);
    const share = percentage === null ? '–' : `${percentage.toFixed(1)}%`;
    return `| ${escapeCell(label)} | ${votes} | ${share} |`;
  });
  return ['| Choice | Votes | Share |', '| --- | ---: | ---: |', ...rows].join('\n');
}

type ArticleBlock = Exclude<Block, { type: 'line' | 'text' | 'media' | 'poll' | 'box' }>;

function writeArticleBlock(block: ArticleBlock): string {
  switch (block.type) {
    case 'article':
      return writeBlocks(block.blocks);
    case 'heading': {
      const title = renderHeading(block.text, block.annotations);
      return title === '' ? '' : `${'#'.repeat(levelOf(block))} ${title}`;
    }
    case 'list':
      return writeList(block.items, block.isOrdered);
    case 'code':
      return fenceCode(block.text);
    case 'markdown':
      return cleanMarkdown(block.text, block.nest);
    case 'figure':
      // The title of a link card is a link already.
      return block.role === 'card' ? '' : image(block.figure.label, block.figure.url);
    case 'rule':
      return '---';
  }
}

function writeList(items: readonly StyledText[], isOrdered: boolean): string {
  return items
    .map(({ text, annotations }) => renderText(text, annotations))
    .filter((text) => text !== '')
    .map((text, at) => listItem(text, isOrdered ? `${at + 1}. ` : '- '))
    .join('\n');
}

function fenceCode(code: string): string {
  const shown = separateTemplates(trimEndOf(toVisibleText(code), '\n'));
  const runs = shown.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}

/** Returns plain text: `Name (@handle)`, or the handle alone if there is no name. */
export function nameAccount(account: Account): string {
  const name = toLine(account.name);
  const handle = `@${toLine(account.screen_name)}`;
  return name === '' ? handle : `${name} (${handle})`;
}

/** Returns Markdown for a heading: `Name (@handle)`. */
export function titleAccount({ screen_name: handle, name, url }: Account): string {
  const shown = titleHandle(handle, url);
  return toLine(name) === '' ? shown : `${escapeInline(name)} (${shown})`;
}

/** Returns a heading; `@user@host` links to `url`, so that GitHub adds no e-mail link. */
export const titleHandle = (handle: string, url: string): string =>
  handle.includes('@') ? link(`@${handle}`, url) : escapeInline(`@${handle}`);

/** Returns `Copy from host: ` for a post from another server, otherwise an empty string. */
export function copyPrefix(post: Post, toText: (host: string) => string = toLine): string {
  const source = post.type === 'status' ? post.copied_from : undefined;
  return source === undefined ? '' : `Copy from ${toText(source.host)}: `;
}

/** Renders a section titled with `heading`, such as `## About`, and the account's name. */
export const renderAbout = (heading: string, account: Account): string =>
  joinBlocks([`${heading} ${titleAccount(account)}`, renderProfile(account, false)]);

/** Renders biography and profile fields. `full` adds pictures, more counts and the ID. */
export function renderProfile(account: Account, full: boolean): string {
  const items = listProfileFacts(account, full).map((fact) => listItem(writeWords(fact)));
  const about = renderText(account.description ?? '', account.description_facets ?? []);
  return joinBlocks([about, items.join('\n')]);
}

/** Renders a list with follower counts and cut biographies. `full` adds details. */
export function renderAccountList(accounts: readonly Account[], full: boolean): string {
  const items = accounts.map((account) => {
    const { facts, biography, details } = toAccountRow(account, full);
    const head = writeFacts([{ type: 'account', account, isBold: true }, ...facts]);
    return listItem(joinLines([head, writeWords(biography, true), writeFacts(details)]));
  });
  return items.join('\n');
}
