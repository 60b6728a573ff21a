import { breaksAddress } from './addresses.ts';
import { isAsciiPunctuation, isSpace, toLine } from './characters.ts';
import { findHazards, isInsideWord, type Run, toRuns } from './hazards.ts';

/** What escaping one line of characters depends on. Offsets count from the line's start. */
export interface EscapeContext {
  /** Characters that could pair with another one of the text. */
  readonly hazards: ReadonlySet<string>;
  /** Offsets before which a marker may be put. */
  readonly borders: ReadonlySet<number>;
  /** Offsets at which the visible text of a link begins. */
  readonly linkStarts: ReadonlySet<number>;
  /** Returns whether an offset is between brackets, which a bracket of the text could close. */
  readonly isBracketed: (offset: number) => boolean;
  /** Returns whether an offset is in the text of a link. */
  readonly isLinked: (offset: number) => boolean;
  readonly isCell: boolean;
}

interface Line extends EscapeContext {
  readonly characters: readonly string[];
}

/** Returns for each character of a line the Markdown that shows that very character. */
export function escapeCharacters(characters: readonly string[], context: EscapeContext): string[] {
  const line = { ...context, characters };
  const written = [...characters];
  for (const run of toRuns(characters, context.borders)) {
    const escaped = escapeRun(run, line);
    if (escaped === null) continue;
    written.fill('', run.start, run.end);
    written[run.start] = escaped;
  }
  return written;
}

/** Returns the Markdown of a run, or `null` if it can stay as it is. */
function escapeRun(run: Run, line: Line): string | null {
  const rule = rules.get(run.character);
  if (rule?.(run, line) === true) return writeEscaped(run);
  return breaksAddress(run, line) ? breakAddress(run) : null;
}

/**
 * What could begin HTML is written as an entity: within an address that a renderer finds where none was
 * meant, a backslash is a part of the address, and what follows it would be HTML.
 */
function writeEscaped({ character, start, end }: Run): string {
  if (character === '<') return '&lt;'.repeat(end - start);
  if (character === '&') return `${'&'.repeat(end - start - 1)}&amp;`;
  return `\\${character}`.repeat(end - start);
}

/** One escaped character less breaks slashes as well. */
function breakAddress({ character, start, end }: Run): string {
  return character === '/'
    ? `${'\\/'.repeat(end - start - 1)}/`
    : `\\${character}`.repeat(end - start);
}

type Rule = (run: Run, line: Line) => boolean;

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['\\', (run) => length(run) > 1 || run.after === undefined || isAsciiPunctuation(run.after)],
  ['*', (run, line) => isHazard(run, line) && !isAloof(run)],
  ['~', (run, line) => isHazard(run, line) && !isAloof(run)],
  ['_', (run, line) => isHazard(run, line) && !isAloof(run) && !isInsideWord(run)],
  ['`', (run, line) => isHazard(run, line) || isBracketed(run, line)],
  ['$', isHazard],
  ['=', (run, line) => isHazard(run, line) && length(run) > 1],
  // Obsidian hides what stands between two of these, across posts too.
  ['%', (run) => length(run) > 1],
  ['[', (run, line) => isHazard(run, line) || isBracketed(run, line) || opensSpecial(run, line)],
  [']', (run, line) => isHazard(run, line) || isBracketed(run, line)],
  // Some parsers read brackets in the text of a link once more, without the backslashes.
  ['(', ({ start, before }, line) => before === ']' && line.isLinked(start)],
  // These look at the visible text: the marker at a border may be dropped later.
  ['<', (run, line) => isHazard(run, line) || opensTag(run, line)],
  ['&', opensEntity],
  ['!', opensLink],
  ['^', opensLink],
  ['|', (_, { isCell }) => isCell],
]);

function length(run: Run): number {
  return run.end - run.start;
}

function isHazard({ character }: Run, { hazards }: Line): boolean {
  return hazards.has(character);
}

/** Returns whether spaces are on both sides, where no delimiter opens or closes. */
function isAloof(run: Run): boolean {
  return isSpace(run.before) && isSpace(run.after);
}

function isBracketed({ start }: Run, line: Line): boolean {
  return line.isBracketed(start);
}

/** Wiki links `[[`, callouts `[!`, footnotes `[^` and `^[`, and task boxes `[ ]`. */
function opensSpecial(run: Run, { characters }: Line): boolean {
  if (length(run) > 1 || /^[!^]$/.test(run.after ?? '') || /^[!^]$/.test(run.before ?? ''))
    return true;
  return run.start === 0 && /^\[[ xX]\]$/.test(characters.slice(0, 3).join(''));
}

function opensTag({ end }: Run, { characters }: Line): boolean {
  return /^[A-Za-z/!?]$/.test(characters[end] ?? '');
}

function opensEntity({ end }: Run, { characters }: Line): boolean {
  if (!/^[#A-Za-z]$/.test(characters[end] ?? '')) return false;
  const ahead = characters.slice(end, end + 40).join('');
  return /^(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{0,31});/.test(ahead);
}

function opensLink({ end }: Run, { linkStarts }: Line): boolean {
  return linkStarts.has(end);
}

/** Every character that emphasis, code or a link around a text could take for its own. */
export const delimiters: readonly string[] = ['*', '_', '~', '`', '[', ']'];

/** Returns a text as Markdown on one line, safe within emphasis and headings. */
export function escapeInline(text: string): string {
  return escapeOneLine(toLine(text), {}).join('');
}

/** Returns a text as Markdown on one line, safe as the text of a link or a picture. */
export function escapeLabel(text: string): string {
  return escapeOneLine(toLine(text), { isLinked: () => true }).join('');
}

/** Returns a text as Markdown on one line, safe in a cell of a table. */
export function escapeCell(text: string): string {
  return escapeOneLine(toLine(text), { isCell: true }).join('');
}

/** Returns a text as Markdown on one line, safe where a line or a list item begins. */
export function escapeLine(text: string): string {
  const line = toLine(text);
  const written = escapeOneLine(line, {});
  const start = findBlockStart(line);
  return written
    .map((shown, at) => (at === start && shown.length === 1 ? `\\${shown}` : shown))
    .join('');
}

/** Returns the content of a heading so that number signs at its end are shown (CommonMark §4.2). */
export function keepNumberSigns(content: string): string {
  return content.replace(/(^|[ \t])(#+)$/, '$1\\$2');
}

const none: ReadonlySet<number> = new Set();

function escapeOneLine(line: string, place: Partial<EscapeContext>): string[] {
  const characters = [...line];
  const hazards = new Set([...findHazards(characters, none), ...delimiters]);
  return escapeCharacters(characters, {
    hazards,
    borders: none,
    linkStarts: none,
    isBracketed: () => true,
    isLinked: () => false,
    isCell: false,
    ...place,
  });
}

/**
 * Beginnings of blocks at the start of a line, up to the character to escape. Some renderers take all
 * white space for spaces.
 */
const blockStarts: readonly RegExp[] = [
  /^(?=#{1,6}(?:\s|$))/, // heading
  /^(?=>)/, // quote
  /^(?=[-+*](?:\s|$))/, // list item
  /^\d{1,9}(?=[.)](?:\s|$))/, // numbered list item
  /^(?==+[ \t]*$)/, // underline of a heading
  /^(?=-+$)/, // the same, of the second level
  /^(?=([-_*])(?:[ \t]*\1){2,}$)/, // thematic break
  /^(?=`{3}|~{3})/, // fence
  /^(?=[|: \t]*-[|:\- \t]*$)/, // second row of a table
];

/** The first characters of the lines that these patterns find. */
const startsBlock = /^[#>\-+*\d=_`~|: \t]/;

/** Returns the offset of the character that must be escaped at the start of a line, or -1. */
export function findBlockStart(line: string): number {
  if (!startsBlock.test(line)) return -1;
  for (const pattern of blockStarts) {
    const match = pattern.exec(line);
    if (match !== null) return match[0].length;
  }
  return -1;
}
