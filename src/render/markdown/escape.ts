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

/** Finds the runs of ASCII punctuation: other characters mean nothing to Markdown. A marker may be put at `borders`. */
function toRuns(characters: readonly string[], borders: ReadonlySet<number>): Run[] {
  const runs: Run[] = [];
  let end = 0;
  for (let start = 0; start < characters.length; start = end) {
    const character = characters[start];
    end = start + 1;
    if (!isAsciiPunctuation(character)) continue;
    while (characters[end] === character && !borders.has(end)) end += 1;
    const before = borders.has(start) ? border : characters[start - 1];
    const after = borders.has(end) ? border : characters[end];
    runs.push({ character, start, end, length: end - start, before, after });
  }
  return runs;
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
    const opener = openerOf(run);
    if (opener !== null && opened.has(opener)) hazards.add(opener);
    if (run.character === '$' && run.length > 1) hazards.add('$'); // displayed maths
    if (opens(run)) opened.add(run.character);
  }
  return hazards;
}

/** Returns the opener with which a run could make a pair, or `null` if it closes nothing. */
function openerOf({ character, before, after }: Run): string | null {
  switch (character) {
    case '[':
    case '<':
      return null;
    case ']':
      return /^[([:]$/.test(after ?? '') ? '[' : null;
    case '@':
      return '<';
    default:
      return character === '`' || !isEdge(before) ? character : null;
  }
}

function opens(run: Run): boolean {
  const { character, length, after } = run;
  if ('[<`'.includes(character)) return true;
  if (!'*~$_='.includes(character) || isEdge(after)) return false;
  return character === '_' ? !isInsideWord(run) : character !== '=' || length > 1;
}

/** Returns whether letters or digits are on both sides, where `_` has no meaning. */
const isInsideWord = ({ before, after }: Run) => isWordCharacter(before) && isWordCharacter(after);

const isEdge = (character: string | undefined) => character === undefined || isSpace(character);

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
 * Returns the Markdown of a run, or `null` if it can stay as it is. `<` and `&` become entities: in an address that a
 * renderer finds where none was meant, a backslash is a part of the address, and what follows it would be HTML.
 */
function escapeRun(run: Run, line: Line): string | null {
  const { character, length } = run;
  if (rules.get(character)?.(run, line) !== true) return null;
  switch (character) {
    case '<':
      return '&lt;'.repeat(length);
    case '&':
      return `${'&'.repeat(length - 1)}&amp;`;
    case '/': // one escaped character less breaks slashes as well
      return `${'\\/'.repeat(length - 1)}/`;
    default:
      return `\\${character}`.repeat(length);
  }
}

type Rule = (run: Run, line: Line) => boolean;

const isHazard: Rule = ({ character }, { hazards }) => hazards.has(character);

/** With spaces on both sides no delimiter opens or closes. */
const isDelimiter: Rule = (run, line) =>
  isHazard(run, line) && !(isSpace(run.before) && isSpace(run.after));

const isHazardOrLinked: Rule = (run, line) => isHazard(run, line) || line.isLinked(run.start);

const opensLink: Rule = ({ end }, { linkStarts }) => linkStarts.has(end);

/** The characters that may have to be escaped. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['\\', ({ length, after }) => length > 1 || after === undefined || isAsciiPunctuation(after)],
  ['*', isDelimiter],
  ['~', isDelimiter],
  ['_', (run, line) => isDelimiter(run, line) && !isInsideWord(run)],
  ['`', isHazardOrLinked],
  ['$', isHazard],
  ['=', (run, line) => isHazard(run, line) && run.length > 1],
  // Obsidian hides what is between two of these, across posts too.
  ['%', ({ length }) => length > 1],
  ['[', (run, line) => isHazardOrLinked(run, line) || opensSpecial(run, line)],
  [']', isHazardOrLinked],
  // Some parsers read brackets in the text of a link once more, without the backslashes.
  ['(', (run, line) => run.before === ']' && line.isLinked(run.start)],
  // These look at the visible text: the marker at a border may be dropped later.
  ['<', (run, line) => isHazard(run, line) || /^[A-Za-z/!?]$/.test(line.characters[run.end] ?? '')],
  ['&', opensEntity],
  ['!', opensLink],
  ['^', opensLink],
  ['|', isHazard],
  // GitHub's Markdown makes links of `www.`, `http://` and e-mail addresses (GFM 0.29 §6.9), so of handles such as
  // `@user@host.example`; some renderers of bare domains. In the text of a link they look for `://` alone.
  ['/', ({ length, after }) => length > 1 && !isEdge(after) && !/^[.,:;!?]$/.test(after ?? '')],
  ['.', (run, line) => !line.isLinked(run.start) && isInDomain(run, line)],
  ['@', (run, line) => !line.isLinked(run.start) && isInMailbox(run, line)],
]);

/** Wiki links `[[`, callouts `[!`, footnotes `[^` and `^[`, and task boxes `[ ]`. */
function opensSpecial({ start, length, before, after }: Run, { characters }: Line): boolean {
  if (length > 1 || /^[!^]$/.test(after ?? '') || /^[!^]$/.test(before ?? '')) return true;
  return start === 0 && /^\[[ xX]\]$/.test(characters.slice(0, 3).join(''));
}

function opensEntity({ end }: Run, { characters }: Line): boolean {
  if (!/^[#A-Za-z]$/.test(characters[end] ?? '')) return false;
  const ahead = characters.slice(end, end + 40).join('');
  return /^(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{0,31});/.test(ahead);
}

/** Some renderers allow in the name of a mailbox what RFC 5322 §3.2.3 does. */
function isInMailbox({ start, length, after }: Run, { characters }: Line): boolean {
  if (length > 1 || isEdge(after)) return false;
  return /^(?![()<>[\]\\@])[!-~]$/.test(characters[start - 1] ?? '');
}

function isInDomain({ start, end, length }: Run, { characters }: Line): boolean {
  if (/^www$/i.test(characters.slice(Math.max(0, start - 3), start).join(''))) return true;
  const ahead = characters.slice(end, end + longestDomain + 1).join('');
  return length === 1 && topLevelDomain.test(ahead);
}

/** The top-level domains by which renderers know bare domains. */
const topLevelDomain =
  /^(?:a[c-gil-oq-uwxz]|b[abd-jm-orstvwyz]|c[acdf-ik-oruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|g[abd-ilmnp-uwy]|h[kmnrtu]|i[del-oq-t]|j[emop]|k[eghimnprwyz]|l[abcikr-vy]|m[acdeghk-z]|n[acefgilopruz]|om|p[ae-hk-nrstwy]|qa|r[eosuw]|s[a-eg-ortuvxyz]|t[cdf-hj-ortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|xn--[a-z\d-]+)(?![\p{L}\p{N}])/iu;

const longestDomain = 'museum'.length;

/** Every character that emphasis, code or a link around a text could take for its own. */
export const delimiters: readonly string[] = ['*', '_', '~', '`', '[', ']'];

/** Returns a text as Markdown on one line, safe within emphasis and headings. */
export const escapeInline = (text: string): string => escapeOneLine([...toLine(text)]).join('');

/** Returns a text as Markdown on one line, safe as the text of a link or a picture. */
export const escapeLabel = (text: string): string =>
  escapeOneLine([...toLine(text)], { isLinked: () => true }).join('');

/** Returns a text as Markdown on one line, safe in a cell of a table. */
export const escapeCell = (text: string): string =>
  escapeOneLine([...toLine(text)], { hazards: ['|'] }).join('');

/** Returns a text as Markdown on one line, safe where a line or a list item begins. */
export function escapeLine(text: string): string {
  const characters = [...toLine(text)];
  return escapeBlockStart(characters, escapeOneLine(characters)).join('');
}

/** Returns the content of a heading so that number signs at its end are shown (CommonMark §4.2). */
export const keepNumberSigns = (content: string): string =>
  content.replace(/(^|[ \t])(#+)$/, '$1\\$2');

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

/** Beginnings of blocks, up to the character to escape. Some renderers take all white space for spaces. */
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

/** Returns an escaped line so that it begins no block. What is left of a run of delimiters could close another one. */
export function escapeBlockStart(
  characters: readonly string[],
  written: readonly string[],
): readonly string[] {
  const line = characters.join('');
  if (!startsBlock.test(line)) return written;
  const start = blockStarts.find((pattern) => pattern.test(line))?.exec(line)?.[0].length;
  if (start === undefined) return written;
  const first = characters[start] ?? '';
  let end = start + 1;
  while (/^[*_~`]$/.test(first) && characters[end] === first) end += 1;
  return written.map((character, offset) => {
    const isBare = start <= offset && offset < end && character === characters[offset];
    return isBare ? `\\${character}` : character;
  });
}
