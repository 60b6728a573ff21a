import { isAsciiPunctuation, isSpace, isWordCharacter, toLine } from './characters.ts';

/** A run of one and the same character, and its neighbours. */
interface Run {
  readonly character: string;
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A character in the place of a Markdown marker beside a run: neither a letter nor a space. */
const border = '*';

/**
 * Finds the runs of ASCII punctuation; `borders` are offsets at which a marker may be put. Other
 * characters mean nothing to Markdown.
 */
function toRuns(characters: readonly string[], borders: ReadonlySet<number>): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < characters.length; ) {
    const character = characters[start] ?? '';
    const end = findRunEnd(characters, start, borders);
    if (isAsciiPunctuation(character)) {
      const before = borders.has(start) ? border : characters[start - 1];
      const after = borders.has(end) ? border : characters[end];
      runs.push({ character, start, end, length: end - start, before, after });
    }
    start = end;
  }
  return runs;
}

function findRunEnd(all: readonly string[], start: number, borders: ReadonlySet<number>): number {
  let end = start + 1;
  while (end < all.length && all[end] === all[start] && !borders.has(end)) end += 1;
  return end;
}

/**
 * Returns the characters that could pair up to a construct of Markdown, GitHub or Obsidian:
 * emphasis, strikethrough, code, maths, highlights, links, addresses. The others can stay as they are.
 */
export function findHazards(
  characters: readonly string[],
  borders: ReadonlySet<number>,
): ReadonlySet<string> {
  const hazards = new Set<string>();
  const opened = new Set<string>();
  for (const run of toRuns(characters, borders)) {
    const hazard = hazardOf(run, opened);
    if (hazard !== null) hazards.add(hazard);
    if (openers.get(run.character)?.(run) === true) opened.add(run.character);
  }
  return hazards;
}

function hazardOf(run: Run, opened: ReadonlySet<string>): string | null {
  switch (run.character) {
    case ']':
      return opened.has('[') && /^[([:]$/.test(run.after ?? '') ? '[' : null;
    case '@':
      return opened.has('<') ? '<' : null;
    default:
      return closes(run, opened) ? run.character : null;
  }
}

function closes({ character, before, length }: Run, opened: ReadonlySet<string>): boolean {
  if (character === '$' && length > 1) return true; // displayed maths
  if (!opened.has(character) || character === '[' || character === '<') return false;
  return character === '`' || !isEdge(before);
}

/** The characters that can begin a construct, and whether a run of them does. */
const openers: ReadonlyMap<string, (run: Run) => boolean> = new Map([
  ['[', () => true],
  ['<', () => true],
  ['`', () => true],
  ['*', isBeforeText],
  ['~', isBeforeText],
  ['$', isBeforeText],
  ['_', (run: Run) => isBeforeText(run) && !isInsideWord(run)],
  ['=', (run: Run) => isBeforeText(run) && run.length > 1],
]);

function isBeforeText({ after }: Run): boolean {
  return !isEdge(after);
}

/** Returns whether letters or digits are on both sides, where `_` has no meaning. */
function isInsideWord({ before, after }: Run): boolean {
  return isWordCharacter(before) && isWordCharacter(after);
}

function isEdge(character: string | undefined): boolean {
  return character === undefined || isSpace(character);
}

/** The surroundings of one line of characters. Offsets count from the line's start. */
export interface EscapeContext {
  /** Characters that could pair with another one of the text. */
  readonly hazards: ReadonlySet<string>;
  /** Offsets before which a marker may be put. */
  readonly borders: ReadonlySet<number>;
  /** Offsets at which the visible text of a link begins. */
  readonly linkStarts: ReadonlySet<number>;
  /** Returns whether an offset is in the text of a link. */
  readonly isLinked: (offset: number) => boolean;
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

/**
 * Returns the Markdown of a run, or `null` if it can stay as it is. `<` and `&` become entities: within an
 * address that a renderer finds where none was meant, a backslash is a part of the address, and what follows
 * it would be HTML.
 */
function escapeRun(run: Run, line: Line): string | null {
  const { character, length } = run;
  if (rules.get(character)?.(run, line) === true) {
    if (character === '<') return '&lt;'.repeat(length);
    if (character === '&') return `${'&'.repeat(length - 1)}&amp;`;
    return `\\${character}`.repeat(length);
  }
  if (!breaksAddress(run, line)) return null;
  // One escaped character less breaks slashes as well.
  return character === '/' ? `${'\\/'.repeat(length - 1)}/` : `\\${character}`.repeat(length);
}

type Rule = (run: Run, line: Line) => boolean;

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['\\', ({ length, after }) => length > 1 || after === undefined || isAsciiPunctuation(after)],
  ['*', (run, line) => isHazard(run, line) && !isAloof(run)],
  ['~', (run, line) => isHazard(run, line) && !isAloof(run)],
  ['_', (run, line) => isHazard(run, line) && !isAloof(run) && !isInsideWord(run)],
  ['`', (run, line) => isHazard(run, line) || isLinked(run, line)],
  ['$', isHazard],
  ['=', (run, line) => isHazard(run, line) && run.length > 1],
  // Obsidian hides what is between two of these, across posts too.
  ['%', ({ length }) => length > 1],
  ['[', (run, line) => isHazard(run, line) || isLinked(run, line) || opensSpecial(run, line)],
  [']', (run, line) => isHazard(run, line) || isLinked(run, line)],
  // Some parsers read brackets in the text of a link once more, without the backslashes.
  ['(', (run, line) => run.before === ']' && isLinked(run, line)],
  // These look at the visible text: the marker at a border may be dropped later.
  ['<', (run, line) => isHazard(run, line) || opensTag(run, line)],
  ['&', opensEntity],
  ['!', opensLink],
  ['^', opensLink],
  ['|', isHazard],
]);

function isHazard({ character }: Run, { hazards }: Line): boolean {
  return hazards.has(character);
}

/** Returns whether spaces are on both sides, where no delimiter opens or closes. */
function isAloof({ before, after }: Run): boolean {
  return isSpace(before) && isSpace(after);
}

function isLinked({ start }: Run, line: Line): boolean {
  return line.isLinked(start);
}

/** Wiki links `[[`, callouts `[!`, footnotes `[^` and `^[`, and task boxes `[ ]`. */
function opensSpecial({ start, length, before, after }: Run, { characters }: Line): boolean {
  if (length > 1 || /^[!^]$/.test(after ?? '') || /^[!^]$/.test(before ?? '')) return true;
  return start === 0 && /^\[[ xX]\]$/.test(characters.slice(0, 3).join(''));
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

/**
 * Returns whether a run of characters has to be escaped so that no renderer takes the text around it for
 * an address. Renderers of GitHub's Markdown make links of `www.`, `http://` and e-mail addresses
 * (GFM 0.29 §6.9), so of handles such as `@user@host.example`; some make links of bare domains. In the
 * text of a link they look for addresses with `://` alone.
 */
function breaksAddress(run: Run, line: Line): boolean {
  const { characters } = line;
  const { character, start, end, length, after } = run;
  if (character === '/') return length > 1 && startsHost(after);
  if (isLinked(run, line)) return false;
  if (character === '.' && endsInWww(characters, start)) return true;
  if (length > 1) return false;
  if (character === '.') return startsDomain(characters, end);
  return character === '@' && !isEdge(after) && endsLocalPart(characters[start - 1]);
}

function startsHost(character: string | undefined): boolean {
  return !isEdge(character) && !/^[.,:;!?]$/.test(character ?? '');
}

/** Some renderers allow in the name of a mailbox what RFC 5322 §3.2.3 does. */
function endsLocalPart(character: string | undefined): boolean {
  return /^[!-~]$/.test(character ?? '') && !/^[()<>[\]\\@]$/.test(character ?? '');
}

function endsInWww(characters: readonly string[], end: number): boolean {
  return end >= 3 && /^www$/i.test(characters.slice(end - 3, end).join(''));
}

/** The top-level domains by which renderers know bare domains. */
const topLevelDomain =
  /^(?:a[c-gil-oq-uwxz]|b[abd-jm-orstvwyz]|c[acdf-ik-oruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|g[abd-ilmnp-uwy]|h[kmnrtu]|i[del-oq-t]|j[emop]|k[eghimnprwyz]|l[abcikr-vy]|m[acdeghk-z]|n[acefgilopruz]|om|p[ae-hk-nrstwy]|qa|r[eosuw]|s[a-eg-ortuvxyz]|t[cdf-hj-ortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|xn--[a-z\d-]+)(?![\p{L}\p{N}])/iu;

const longestDomain = 'museum'.length;

function startsDomain(characters: readonly string[], start: number): boolean {
  return topLevelDomain.test(characters.slice(start, start + longestDomain + 1).join(''));
}

/** Every character that emphasis, code or a link around a text could take for its own. */
export const delimiters: readonly string[] = ['*', '_', '~', '`', '[', ']'];

/** Returns a text as Markdown on one line, safe within emphasis and headings. */
export function escapeInline(text: string): string {
  return escapeOneLine([...toLine(text)]).join('');
}

/** Returns a text as Markdown on one line, safe as the text of a link or a picture. */
export function escapeLabel(text: string): string {
  return escapeOneLine([...toLine(text)], { isLinked: () => true }).join('');
}

/** Returns a text as Markdown on one line, safe in a cell of a table. */
export function escapeCell(text: string): string {
  return escapeOneLine([...toLine(text)], { hazards: ['|'] }).join('');
}

/** Returns a text as Markdown on one line, safe where a line or a list item begins. */
export function escapeLine(text: string): string {
  const characters = [...toLine(text)];
  return escapeBlockStart(characters, escapeOneLine(characters)).join('');
}

/** Returns the content of a heading so that number signs at its end are shown (CommonMark §4.2). */
export function keepNumberSigns(content: string): string {
  return content.replace(/(^|[ \t])(#+)$/, '$1\\$2');
}

const none: ReadonlySet<number> = new Set();

/** Context of a line without markers of its own. */
export const plainContext = { borders: none, linkStarts: none, isLinked: () => false } as const;

function escapeOneLine(
  characters: readonly string[],
  place: { readonly hazards?: readonly string[]; readonly isLinked?: () => boolean } = {},
): string[] {
  const found = findHazards(characters, none);
  const hazards = new Set([...found, ...delimiters, ...(place.hazards ?? [])]);
  return escapeCharacters(characters, { ...plainContext, ...place, hazards });
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

/**
 * Returns an escaped line so that it begins no block. A run of delimiters is escaped as a whole: what is left of
 * it could close another one.
 */
export function escapeBlockStart(
  characters: readonly string[],
  written: readonly string[],
): readonly string[] {
  const start = findBlockStart(characters.join(''));
  if (start < 0) return written;
  const first = characters[start];
  let end = start + 1;
  while (/^[*_~`]$/.test(first ?? '') && characters[end] === first) end += 1;
  return written.map((character, offset) => {
    const isBare = start <= offset && offset < end && character === characters[offset];
    return isBare ? `\\${character}` : character;
  });
}

/** Returns the offset of the character that must be escaped at the start of a line, or -1. */
function findBlockStart(line: string): number {
  if (!startsBlock.test(line)) return -1;
  for (const pattern of blockStarts) {
    const match = pattern.exec(line);
    if (match !== null) return match[0].length;
  }
  return -1;
}
