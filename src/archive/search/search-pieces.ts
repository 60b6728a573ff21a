import { trimEndOf } from '../../core/trim-end.ts';
import { toWords } from './words.ts';

/** Something to look for: words that stand one after the other in a column of `post_words`. */
export interface Term {
  readonly column: 'text' | 'author' | 'tags' | 'marks';
  readonly words: readonly string[];
}

/** How much of a search text is read: a phrase of many common words takes long to look for. */
const limits = { characters: 4096, terms: 32, words: 64 } as const;

/** What a part of a search text asks for; `isPlain` where it is neither quoted nor an operator. */
export type Piece =
  | { readonly kind: 'include' | 'exclude'; readonly term: Term; readonly isPlain: boolean }
  | { readonly kind: 'since' | 'until'; readonly seconds: number }
  | { readonly kind: 'warning'; readonly text: string };

/** An operator or a tag, without what stands before it. */
export interface Special {
  readonly body: string;
  readonly kind: 'include' | 'exclude';
  /** As it was written. */
  readonly shown: string;
}

/** What a search knows beside words and phrases. */
export interface Dialect {
  /** Added to what is said of an operator that is not known. */
  readonly where: string;
  /** Reads an operator or a tag; undefined where it is none: `12:30` and `https://…` are words. */
  readSpecial(special: Special): Piece | undefined;
}

/** The parts of a search text, and sentences on what was left out. */
export interface Pieces {
  readonly pieces: readonly Exclude<Piece, { readonly kind: 'warning' }>[];
  readonly warnings: readonly string[];
}

/**
 * Takes a search text apart: words and `"phrases"`, `-` before what must not be there, and what else
 * the dialect knows. Never throws.
 */
export function toPieces(text: string, dialect: Dialect): Pieces {
  const lexemes = [
    ...text
      .slice(0, limits.characters)
      .replace(/[“”„‟]/g, '"')
      .matchAll(lexeme),
  ];
  const written = [...new Set(lexemes.map(([one]) => one))];
  const read = written.slice(0, limits.terms).flatMap((one) => readLexeme(one, dialect));
  const { kept, isCut: isLong } = keepWithinWords(read);
  const isCut = isLong || text.length > limits.characters || written.length > limits.terms;
  const warnings = kept.flatMap((piece) => (piece.kind === 'warning' ? [piece.text] : []));
  return {
    pieces: kept.flatMap((piece) => (piece.kind === 'warning' ? [] : [piece])),
    warnings: [...new Set([...warnings, ...(isCut ? [tooLong] : [])])],
  };
}

const tooLong = `The search is long; the archive looked for its first ${limits.terms} terms and ${limits.words} words at most.`;

/** A quoted text with what stands before it, or what stands between two spaces. */
const lexeme = /[-(]*(?:\p{L}+:)?"[^"]*"?|\S+/gu;

function keepWithinWords(pieces: readonly Piece[]) {
  let left: number = limits.words;
  const kept = pieces.flatMap((piece): readonly Piece[] => {
    if (!('term' in piece)) return [piece];
    const words = piece.term.words.slice(0, left);
    left -= words.length;
    return words.length === 0 ? [] : [{ ...piece, term: { ...piece.term, words } }];
  });
  const count = (of: readonly Piece[]) =>
    of.flatMap((piece) => ('term' in piece ? piece.term.words : [])).length;
  return { kept, isCut: count(kept) < count(pieces) };
}

function readLexeme(one: string, { where, readSpecial }: Dialect): readonly Piece[] {
  if (one === 'AND') return []; // everything is asked for together anyway
  if (one === 'OR') return [unknownOperator(one, where)];
  const [signs = ''] = /^[-(]*/.exec(one) ?? [];
  const body = trimEndOf(one.slice(signs.length), ')');
  const kind = signs.includes('-') ? 'exclude' : 'include';
  const shown = `${kind === 'exclude' ? '-' : ''}${body}`;
  const special = readSpecial({ body, kind, shown });
  const pieces = special === undefined ? readWords(body, kind) : [special];
  return signs.includes('(') && pieces.length > 0 ? [parenthesis, ...pieces] : pieces;
}

const parenthesis: Piece = {
  kind: 'warning',
  text: 'The archive does not know parentheses; they were left out.',
};

/** Punctuation alone is nothing to look for. */
function readWords(body: string, kind: 'include' | 'exclude'): readonly Piece[] {
  const words = toWords(body);
  if (words.length === 0) return [];
  return [{ kind, term: { column: 'text', words }, isPlain: !body.includes('"') }];
}

/** Says that an operator was left out, because it is not known `where`. */
export function unknownOperator(shown: string, where: string): Piece {
  const text = `The archive does not know the operator ${quote(shown)}${where}; it was left out.`;
  return { kind: 'warning', text };
}

/** Says that an operator was left out, because its value cannot be read. */
export function unreadable(shown: string): Piece {
  return { kind: 'warning', text: `The archive cannot read ${quote(shown)}; it was left out.` };
}

function quote(shown: string): string {
  const letters = [...shown.replace(/[`\p{C}]/gu, '\ufffd')];
  return `\`${letters.slice(0, 80).join('')}${letters.length > 80 ? '…' : ''}\``;
}
