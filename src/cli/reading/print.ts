import type { ParsedUrlQuery } from 'node:querystring';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Format, ListItems, ListResult } from '../../model/results.ts';
import { reads } from '../../reads/index.ts';
import type { ParsedRead, Read } from '../../reads/read.ts';
import { render } from '../../render/formats.ts';
import type { Fetching } from '../../server/wiring/fetching.ts';
import type { CommandContext } from '../command.ts';
import { countOf, type Output, toElapsed, toJsonLines } from '../output/output.ts';
import { createNotePrinter, type NoteFolder } from './notes.ts';

/** Fetches a post and prints the post. @throws Problem if the post cannot be fetched */
export async function printPost(
  parameters: Readonly<ParsedUrlQuery>,
  { reader }: Fetching,
  { stdout }: CommandContext,
): Promise<void> {
  const answered = await reader.fetch(reader.parse(reads.getPost, parameters));
  const format = answered.parsed.format ?? 'markdown';
  const { body, mediaType } = await reader.represent(answered, format);
  const text = body.toString().replace(/\n?$/, '\n');
  if (mediaType.includes('json')) stdout.writeJson(text);
  else stdout.write(text);
}

interface ListPrint {
  readonly read: Read;
  /** Parameters of the first page. `cursor` or `page` sets where printing starts. */
  readonly parameters: Readonly<ParsedUrlQuery>;
  /** Maximum number of items to print; `Infinity` for all items. */
  readonly count: number;
  /** Folder in which to save the posts as notes instead of printing them; `null` to print. */
  readonly notes: NoteFolder | null;
}

const pageLimit = 100;

/**
 * Prints JSON lines and saves notes after each page; prints other formats as one document at the
 * end. If a later page fails, prints the earlier pages. Warnings and progress go to standard error.
 */
export async function printList(print: ListPrint, fetching: Fetching, context: CommandContext) {
  const { stdout, stderr } = context;
  const parsed = fetching.reader.parse(print.read, print.parameters);
  const { format = 'markdown' } = parsed;
  const printer = createPrinter(print, parsed, context);
  const progress = createReadProgress(stderr, systemClock);
  const pages: ListResult[] = [];
  try {
    for await (const page of readPages(print, fetching)) {
      if (stdout.isTerminal) stderr.clearLine();
      await printer?.print(page, pages.length === 0);
      // Items that have been printed are dropped to free memory.
      pages.push(printer === null ? page : { ...page, items: null });
      progress.addPage(page);
      if (stdout.hasLeft || printer?.isFull) return;
    }
  } finally {
    stderr.clearLine();
    printSummary(printer === null ? format : null, joinPages(pages), context, fetching);
  }
}

interface PagePrinter {
  readonly isFull: boolean;
  print(page: ListResult, isFirst: boolean): void | Promise<void>;
}

function createPrinter(
  print: ListPrint,
  parsed: ParsedRead,
  context: CommandContext,
): PagePrinter | null {
  if (print.notes !== null) return createNotePrinter(parsed, print.notes);
  return parsed.format === 'json' ? createLinePrinter(print, context) : null;
}

function printSummary(
  format: Format | null,
  whole: ListResult | undefined,
  { stdout, stderr }: CommandContext,
  { context }: Pick<Fetching, 'context'>,
): void {
  if (whole === undefined || stdout.hasLeft) return;
  if (format === null) {
    stderr.write(warnOf(whole).join(''));
  } else {
    const bound = whole.bound && { bound: { ...whole.bound, nextAfter: null } };
    const { body } = render({ ...whole, next: null, ...bound }, { format, context });
    if (format === 'jsonfeed') stdout.writeJson(body);
    else stdout.write(body);
  }
  if (whole.next !== null) stderr.write('perch: There are more results. Use --limit N or --all.\n');
}

const warnOf = ({ warnings, degraded, source }: ListResult): readonly string[] => [
  ...warnings.map((warning) => `perch: ${warning}\n`),
  ...(degraded ? [`perch: These results are not live. Their source is ${source}.\n`] : []),
];

async function* readPages({ read, parameters, count }: ListPrint, { reader }: Fetching) {
  let remaining = count;
  let position: Readonly<ParsedUrlQuery> = {};
  let cursor: string | undefined;
  do {
    const limit = String(Math.min(remaining, pageLimit));
    const parsed = reader.parse(read, { ...parameters, ...position, limit });
    const page = reader.assemble(await reader.fetch(parsed));
    if (page.kind !== 'browse') throw new Error(`The read ${read.name} does not return a list.`);
    yield page;
    remaining -= itemsOf(page).length;
    cursor = page.next?.cursor;
    position = { cursor, page: undefined };
  } while (cursor !== undefined && remaining > 0);
}

function itemsOf({ items }: ListResult): readonly object[] {
  if (items === null) return [];
  return 'posts' in items ? items.posts : items.users;
}

function createLinePrinter(
  { parameters }: ListPrint,
  { stdout, stderr }: CommandContext,
): PagePrinter {
  const maxChars = Number(parameters.max_chars ?? Number.POSITIVE_INFINITY);
  let room = maxChars;
  let items = 0;
  let isFull = false;
  const printLine = (line: string): void => {
    room -= line.length;
    stdout.writeJson(line);
  };
  return {
    get isFull() {
      return isFull;
    },
    print: (page: ListResult, isFirst: boolean): void => {
      const { profile } = page;
      if (isFirst && profile !== null) printLine(toJsonLines([{ profile }]));
      const lines = itemsOf(page).map((item) => toJsonLines([item]));
      const fitting = countFitting(lines, room);
      const shown = items === 0 ? Math.max(1, fitting) : fitting;
      isFull = shown < lines.length;
      items += Math.min(shown, lines.length);
      if (shown > 0) printLine(lines.slice(0, shown).join(''));
      if (isFull) stderr.write(`perch: --max-chars ${maxChars} leaves room for ${items} items.\n`);
    },
  };
}

function countFitting(lines: readonly string[], room: number): number {
  let length = 0;
  const excess = lines.findIndex((line) => {
    length += line.length;
    return length > room;
  });
  return excess === -1 ? lines.length : excess;
}

function joinPages(pages: readonly ListResult[]): ListResult | undefined {
  const [first] = pages;
  return (
    first && {
      ...first,
      items: joinItems(pages),
      next: pages.at(-1)?.next ?? null,
      warnings: [...new Set(pages.flatMap(({ warnings }) => warnings))],
      degraded: pages.some(({ degraded }) => degraded),
    }
  );
}

function joinItems(pages: readonly ListResult[]): ListItems | null {
  const items = pages.flatMap((page) => page.items ?? []);
  if (items.length === 0) return null;
  const posts = items.flatMap((one) => ('posts' in one ? one.posts : []));
  const users = items.flatMap((one) => ('users' in one ? one.users : []));
  return items.some((one) => 'posts' in one) ? { posts } : { users };
}

const everyMs = 100;

export function createReadProgress(stderr: Output, clock: Clock) {
  const begunMs = clock.now();
  let dueMs = begunMs;
  let items = 0;
  let pages = 0;
  return {
    addPage: ({ items: found }: Pick<ListResult, 'items'>) => {
      items += Object.values(found ?? {}).flat().length;
      pages += 1;
      const nowMs = clock.now();
      if (nowMs < dueMs) return;
      dueMs = nowMs + everyMs;
      const noun = found !== null && 'users' in found ? 'account' : 'post';
      const counts = `${countOf(items, noun)}, ${countOf(pages, 'page')}`;
      stderr.showLine(`perch: ${counts}, ${toElapsed(nowMs - begunMs)}`);
    },
  };
}
