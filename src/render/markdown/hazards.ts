import { isAsciiPunctuation, isSpace, isWordCharacter } from './characters.ts';

/** A run of one and the same character, and what stands around it. */
export interface Run {
  readonly character: string;
  readonly start: number;
  readonly end: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A character that stands for a Markdown marker beside a run: neither a letter nor a space. */
const border = '*';

/**
 * Finds the runs of ASCII punctuation; `borders` are offsets where a marker may come to stand. Other
 * characters mean nothing to Markdown.
 */
export function toRuns(characters: readonly string[], borders: ReadonlySet<number>): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < characters.length; ) {
    const character = characters[start] ?? '';
    const end = findRunEnd(characters, start, borders);
    if (isAsciiPunctuation(character)) {
      const before = borders.has(start) ? border : characters[start - 1];
      const after = borders.has(end) ? border : characters[end];
      runs.push({ character, start, end, before, after });
    }
    start = end;
  }
  return runs;
}

function findRunEnd(
  characters: readonly string[],
  start: number,
  borders: ReadonlySet<number>,
): number {
  let end = start + 1;
  while (end < characters.length && characters[end] === characters[start] && !borders.has(end))
    end += 1;
  return end;
}

/**
 * Gives the characters that could pair up to a construct of Markdown, GitHub or Obsidian:
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
    if (canOpen(run)) opened.add(run.character);
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
      return isDisplayMaths(run) || closes(run, opened) ? run.character : null;
  }
}

function isDisplayMaths(run: Run): boolean {
  return run.character === '$' && run.end - run.start > 1;
}

function closes(run: Run, opened: ReadonlySet<string>): boolean {
  switch (run.character) {
    case '[':
    case '<':
      return false;
    case '`':
      return opened.has(run.character);
    default:
      return opened.has(run.character) && !isEdge(run.before);
  }
}

function canOpen(run: Run): boolean {
  switch (run.character) {
    case '[':
    case '<':
    case '`':
      return true;
    case '_':
      return !isEdge(run.after) && !isInsideWord(run);
    case '=':
      return !isEdge(run.after) && run.end - run.start > 1;
    case '*':
    case '~':
    case '$':
      return !isEdge(run.after);
    default:
      return false;
  }
}

/** Tells whether letters or digits stand on both sides, where `_` has no meaning. */
export function isInsideWord(run: Run): boolean {
  return isWordCharacter(run.before) && isWordCharacter(run.after);
}

function isEdge(character: string | undefined): boolean {
  return character === undefined || isSpace(character);
}
