import { isAsciiPunctuation, isSpace, toLine } from './characters.ts';
import { findHazards, isInsideWord, type Run, toRuns } from './hazards.ts';

/** What escaping one line of characters depends on. Offsets count from the line's start. */
export interface EscapeContext {
  /** Characters that could pair with another one of the text. */
  readonly hazards: ReadonlySet<string>;
  /** Offsets before which a marker may come to stand. */
  readonly borders: ReadonlySet<number>;
  /** Offsets at which the visible text of a link begins. */
  readonly linkStarts: ReadonlySet<number>;
  /** Tells whether an offset lies in the visible text of a link or picture. */
  readonly isLinkText: (offset: number) => boolean;
  readonly isCell: boolean;
}

/** Gives for each character of a line what Markdown shows as that very character. */
export function escapeCharacters(characters: readonly string[], context: EscapeContext): string[] {
  const written = [...characters];
  for (const run of toRuns(characters, context.borders)) {
    const rule = rules[run.character];
    if (rule?.({ ...run, characters, context }) !== true) continue;
    written.fill(`\\${run.character}`, run.start, run.end);
  }
  return written;
}

interface RunInLine extends Run {
  readonly characters: readonly string[];
  readonly context: EscapeContext;
}

const rules: Readonly<Record<string, (run: RunInLine) => boolean>> = {
  '\\': (run) => length(run) > 1 || run.after === undefined || isAsciiPunctuation(run.after),
  '*': (run) => isHazard(run) && !isAloof(run),
  '~': (run) => isHazard(run) && !isAloof(run),
  _: (run) => isHazard(run) && !isAloof(run) && !isInsideWord(run),
  '`': isHazard,
  $: isHazard,
  '=': (run) => isHazard(run) && length(run) > 1,
  // Obsidian hides what stands between two of these, across posts too.
  '%': (run) => length(run) > 1,
  '[': (run) => isHazard(run) || isInLink(run) || opensSpecialBracket(run),
  ']': (run) => isHazard(run) || isInLink(run),
  // These look at the visible text: the marker at a border may be dropped later.
  '<': (run) => isHazard(run) || /^[A-Za-z/!?]$/.test(run.characters[run.end] ?? ''),
  '&': opensEntity,
  '!': opensLink,
  '^': opensLink,
  '|': (run) => run.context.isCell,
};

function length(run: Run): number {
  return run.end - run.start;
}

function isHazard(run: RunInLine): boolean {
  return run.context.hazards.has(run.character);
}

/** Tells whether spaces stand on both sides, where no delimiter opens or closes. */
function isAloof(run: Run): boolean {
  return isSpace(run.before) && isSpace(run.after);
}

function isInLink(run: RunInLine): boolean {
  return run.context.isLinkText(run.start);
}

/** Wiki links `[[`, callouts `[!`, footnotes `[^` and `^[`, and task boxes `[ ]`. */
function opensSpecialBracket(run: RunInLine): boolean {
  if (length(run) > 1 || /^[!^]$/.test(run.after ?? '') || /^[!^]$/.test(run.before ?? ''))
    return true;
  return run.start === 0 && /^\[[ xX]\]$/.test(run.characters.slice(0, 3).join(''));
}

function opensEntity(run: RunInLine): boolean {
  const ahead = run.characters.slice(run.end - 1, run.end + 40).join('');
  return /^&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{0,31});/.test(ahead);
}

function opensLink(run: RunInLine): boolean {
  return run.context.linkStarts.has(run.end);
}

/** Every character that emphasis, code or a link around a text could take for its own. */
const delimiters = ['*', '_', '~', '`', '[', ']'];

/**
 * Gives a text on one line, safe within emphasis, headings, and the text of links and pictures.
 */
export function escapeInline(text: string): string {
  return escapeOneLine(text, false);
}

/** Gives a text on one line, safe in a cell of a table. */
export function escapeCell(text: string): string {
  return escapeOneLine(text, true);
}

/** Gives a text on one line, safe where a line or a list item begins. */
export function escapeLine(text: string): string {
  const line = toLine(text);
  const written = escapeLineCharacters(line, false);
  const start = findBlockStart(line);
  return written
    .map((shown, at) => (at === start && shown.length === 1 ? `\\${shown}` : shown))
    .join('');
}

/** Gives the content of a heading so that number signs at its end are shown (CommonMark §4.2). */
export function keepNumberSigns(content: string): string {
  return content.replace(/(^|[ \t])(#+)$/, '$1\\$2');
}

function escapeOneLine(text: string, isCell: boolean): string {
  return escapeLineCharacters(toLine(text), isCell).join('');
}

function escapeLineCharacters(line: string, isCell: boolean): string[] {
  const characters = [...line];
  const borders: ReadonlySet<number> = new Set();
  const hazards = new Set([...findHazards(characters, borders), ...delimiters]);
  const context = { hazards, borders, linkStarts: borders, isLinkText: () => true, isCell };
  return escapeCharacters(characters, context);
}

/** What makes a block of Markdown at the start of a line, up to the character to escape. */
const blockStarts: readonly RegExp[] = [
  /^(?=#{1,6}(?:[ \t]|$))/, // heading
  /^(?=>)/, // quote
  /^(?=[-+*](?:[ \t]|$))/, // list item
  /^\d{1,9}(?=[.)](?:[ \t]|$))/, // numbered list item
  /^(?==+[ \t]*$)/, // underline of a heading
  /^(?=-+$)/, // the same, of the second level
  /^(?=([-_*])(?:[ \t]*\1){2,}$)/, // thematic break
  /^(?=`{3}|~{3})/, // fence
  /^(?=[|: \t]*-[|:\- \t]*$)/, // second row of a table
];

/** Gives the offset of the character that must be escaped at the start of a line; -1 for none. */
export function findBlockStart(line: string): number {
  for (const pattern of blockStarts) {
    const match = pattern.exec(line);
    if (match !== null) return match[0].length;
  }
  return -1;
}
