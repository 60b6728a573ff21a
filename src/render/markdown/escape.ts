import { isAsciiPunctuation, isSpace, isWordCharacter, toLine } from './characters.ts';

interface Run {
  readonly character: string;
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const border = '*'; // represents a Markdown marker next to a run: neither a letter nor a space

function toRuns(characters: readonly string[], borders: ReadonlySet<number>): Run[] {
  const runs: Run[] = [];
  let end = 0;
  for (let start = 0; start < characters.length; start = end) {
    const character = characters[start];
    end = start + 1;
    if (!canBeMarkup(character)) continue;
    while (characters[end] === character && !borders.has(end)) end += 1;
    const before = borders.has(start) ? border : characters[start - 1];
    const after = borders.has(end) ? border : characters[end];
    runs.push({ character, start, end, length: end - start, before, after });
  }
  return runs;
}

/** Returns the punctuation that could form markup of Markdown, GitHub or Obsidian. */
export function findHazards(
  characters: readonly string[],
  borders: ReadonlySet<number>,
): Set<string> {
  const hazards = new Set<string>();
  const opened = new Set<string>();
  for (const run of toRuns(characters, borders)) {
    const hazard = hazardOf(run, opened);
    if (hazard !== null) hazards.add(hazard);
    if (opens(run)) opened.add(run.character);
  }
  return hazards;
}

function hazardOf(run: Run, opened: ReadonlySet<string>): string | null {
  if (run.character === '$' && run.length > 1) return '$'; // display maths
  if (run.character === ':' && run.length > 1) {
    if (isEdge(run.after) || opened.has('[') || opened.has('(')) return ':';
  }
  const opener = openerOf(run);
  return opener !== null && opened.has(opener) ? opener : null;
}

function openerOf({ character, before, after }: Run): string | null {
  switch (character) {
    case '[':
    case '(':
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
  if ('[(<`'.includes(character)) return true;
  if (!'*~$_='.includes(character) || isEdge(after)) return false;
  return character === '_' ? !isInsideWord(run) : character !== '=' || length > 1;
}

const isInsideWord = ({ before, after }: Run) => isWordCharacter(before) && isWordCharacter(after);

const isEdge = (character: string | undefined) => character === undefined || isSpace(character);

/** Context for escaping a line. Offsets count characters from its start. */
export interface EscapeContext {
  /** Punctuation that could form markup, as `findHazards` returns it. */
  readonly hazards: ReadonlySet<string>;
  /** Offsets at which a Markdown marker, such as `**`, may be inserted. */
  readonly borders: ReadonlySet<number>;
  readonly linkStarts: ReadonlySet<number>;
  /** 1 for each character of a link's text. May be shorter than the line. */
  readonly linked: Uint8Array;
}

interface Line extends EscapeContext {
  readonly characters: readonly string[];
}

/** Returns each character of a line, escaped where needed. */
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

function escapeRun(run: Run, line: Line): string | null {
  const { character, length } = run;
  if (rules.get(character)?.(run, line) !== true) return null;
  switch (character) {
    case '<':
      return '&lt;'.repeat(length);
    case '&':
      return `${'&'.repeat(length - 1)}&amp;`;
    case '/': // escaping all but the last is enough to break `//`
      return `${'\\/'.repeat(length - 1)}/`;
    default:
      return `\\${character}`.repeat(length);
  }
}

type Rule = (run: Run, line: Line) => boolean;

const isHazard: Rule = ({ character }, { hazards }) => hazards.has(character);

const isLinked: Rule = ({ start }, { linked }) => linked[start] === 1;

/** Returns whether a run, such as `**`, could be emphasis: not between two spaces. */
const isDelimiter: Rule = (run, line) =>
  isHazard(run, line) && !(isSpace(run.before) && isSpace(run.after));

const isHazardOrLinked: Rule = (run, line) => isHazard(run, line) || isLinked(run, line);

const isLongHazard: Rule = (run, line) => run.length > 1 && isHazard(run, line);

const opensLink: Rule = ({ end }, { linkStarts }) => linkStarts.has(end);

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['\\', ({ length, after }) => length > 1 || after === undefined || isAsciiPunctuation(after)],
  ['*', isDelimiter],
  ['~', isDelimiter],
  ['_', (run, line) => isDelimiter(run, line) && !isInsideWord(run)],
  ['`', isHazardOrLinked],
  ['$', isHazard],
  ['=', isLongHazard],
  [':', isLongHazard],
  // Obsidian hides the text between two `%%`, even in different posts.
  ['%', ({ length }) => length > 1],
  ['[', (run, line) => isHazardOrLinked(run, line) || opensSpecial(run, line)],
  [']', isHazardOrLinked],
  // Some parsers parse the brackets in a link's text a second time, without the backslashes.
  ['(', (run, line) => run.before === ']' && isLinked(run, line)],
  // The next two rules inspect the text after the run, because a marker after it may be dropped
  // later. The plugin Templater runs the code after `<%`.
  [
    '<',
    (run, line) => isHazard(run, line) || /^[A-Za-z/!?%]$/.test(line.characters[run.end] ?? ''),
  ],
  ['&', opensEntity],
  ['!', opensLink],
  // Obsidian hides the id of a block, such as `^id`, at the end of a paragraph. The text may become
  // the end of one.
  ['^', (run, line) => opensLink(run, line) || !isWordCharacter(run.before)],
  ['|', isHazard],
  // GitHub's Markdown makes links of `www.`, `http://` and e-mail addresses (GFM 0.29 §6.9), and so
  // of handles such as `@user@host.example`. Some renderers link bare domains. Within a link, they
  // link only `://`.
  ['/', ({ length, after }) => length > 1 && !isEdge(after) && !/^[.,:;!?]$/.test(after ?? '')],
  ['.', isInDomain],
  ['@', isInMailbox],
]);

const canBeMarkup = (character: string | undefined): character is string =>
  rules.has(character ?? '');

function opensSpecial({ start, length, before, after }: Run, { characters }: Line): boolean {
  if (length > 1 || /^[!^]$/.test(after ?? '') || /^[!^]$/.test(before ?? '')) return true;
  return start === 0 && /^\[[ xX]\]$/.test(characters.slice(0, 3).join(''));
}

function opensEntity({ end }: Run, { characters }: Line): boolean {
  if (!/^[#A-Za-z]$/.test(characters[end] ?? '')) return false;
  const ahead = characters.slice(end, end + 40).join('');
  return /^(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{0,31});/.test(ahead);
}

/** Returns whether an `@` could form an e-mail link: renderers vary, up to RFC 5322 §3.2.3. */
function isInMailbox({ start, length, after }: Run, { characters, linked }: Line): boolean {
  if (linked[start] === 1 || length > 1 || isEdge(after)) return false;
  return /^(?![()<>[\]\\@])[!-~]$/.test(characters[start - 1] ?? '');
}

function isInDomain({ start, end, length }: Run, { characters, linked }: Line): boolean {
  if (linked[start] === 1) return false;
  if (/^www$/i.test(characters.slice(Math.max(0, start - 3), start).join(''))) return true;
  const ahead = characters.slice(end, end + longestDomain + 1).join('');
  return length === 1 && topLevelDomain.test(ahead);
}

/** Top-level domains for which some renderers turn text such as `example.org` into a link. */
const topLevelDomain =
  /^(?:a[c-gil-oq-uwxz]|b[abd-jm-orstvwyz]|c[acdf-ik-oruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|g[abd-ilmnp-uwy]|h[kmnrtu]|i[del-oq-t]|j[emop]|k[eghimnprwyz]|l[abcikr-vy]|m[acdeghk-z]|n[acefgilopruz]|om|p[ae-hk-nrstwy]|qa|r[eosuw]|s[a-eg-ortuvxyz]|t[cdf-hj-ortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|xn--[a-z\d-]+)(?![\p{L}\p{N}])/iu;

const longestDomain = 'museum'.length;

/** Delimiters of emphasis, code and links, which must be escaped within such markup. */
export const delimiters: readonly string[] = ['*', '_', '~', '`', '[', ']'];

/** Escapes a text as one line that is safe within emphasis and headings. */
export const escapeInline = (text: string): string => escapeOneLine([...toLine(text)]).join('');

/** Escapes a text as one line that is safe in a link or a picture. */
export function escapeLabel(text: string): string {
  const characters = [...toLine(text)];
  return escapeOneLine(characters, new Uint8Array(characters.length).fill(1)).join('');
}

/** Escapes a text as one line that is safe in a table cell. */
export const escapeCell = (text: string): string =>
  escapeOneLine([...toLine(text)], unlinked, ['|']).join('');

/** Escapes a text as one line that is safe at the start of a line or a list item. */
export function escapeLine(text: string): string {
  const characters = [...toLine(text)];
  return escapeBlockStart(characters, escapeOneLine(characters)).join('');
}

/** Escapes `#` at the end of a heading, which Markdown would drop (CommonMark §4.2). */
export const keepNumberSigns = (content: string): string =>
  content.replace(/(^|[ \t])(#+)$/, '$1\\$2');

const none: ReadonlySet<number> = new Set();
const unlinked = new Uint8Array();

function escapeOneLine(
  characters: readonly string[],
  linked = unlinked,
  extraHazards: readonly string[] = [],
): string[] {
  if (!characters.some(canBeMarkup)) return [...characters];
  const hazards = findHazards(characters, none);
  for (const hazard of [...delimiters, ...extraHazards]) hazards.add(hazard);
  return escapeCharacters(characters, { borders: none, linkStarts: none, linked, hazards });
}

/** Starts of Markdown blocks. A match ends before the character that must be escaped. */
const blockStarts: readonly RegExp[] = [
  /^(?=#{1,6}(?:\s|$))/, // heading
  /^(?=>)/, // quote
  /^(?=[-+*](?:\s|$))/, // list item
  /^\d{1,9}(?=[.)](?:\s|$))/, // numbered list item
  /^(?==+[ \t]*$)/, // underline of a heading
  /^(?=-+$)/, // underline of a second-level heading
  /^(?=([-_*])(?:[ \t]*\1){2,}$)/, // thematic break
  /^(?=`{3}|~{3})/, // fence of a code block
  /^(?=[|: \t]*-[|:\- \t]*$)/, // second row of a table
];

const startsBlock = /^[#>\-+*\d=_`~|: \t]/;

/** Escapes the start of a line, so that it starts no block such as a heading or a list. */
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
  const escaped = [...written];
  for (let at = start; at < end; at += 1) {
    if (escaped[at] === characters[at]) escaped[at] = `\\${escaped[at]}`;
  }
  return escaped;
}
