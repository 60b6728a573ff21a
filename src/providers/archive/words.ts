/** Characters that are words of their own: of scripts that are written without spaces, and symbols. */
const alone = [
  ...['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'].map(
    (script) => String.raw`\p{Script_Extensions=${script}}`,
  ),
  String.raw`\p{So}`,
].join('');
const inWords = String.raw`[\p{L}\p{N}\p{M}\p{So}\p{Co}]`;
const word = new RegExp(
  String.raw`(?=${inWords})[${alone}]\p{M}*|(?:(?![${alone}])${inWords})+`,
  'gu',
);

/**
 * Marks that do not tell words apart: accents, the points of Hebrew, the vowels of Arabic, and its
 * stretching; but not the two marks that make other sounds of kana. Enclosing marks are none of the
 * index's categories, so a word of them alone would be sought and never found.
 */
const unheard =
  /(?![\u3099\u309a])(?=\p{M})[\p{Me}\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]|\u0640/gu;

/**
 * Gives the words of a text as the archive indexes and seeks them, in order. Each consists of
 * letters, numbers, marks and symbols only, so none can be read as FTS5 syntax. Text in scripts
 * without spaces, and in Korean, is split into its characters, to be found by part.
 */
export function toWords(text: string): readonly string[] {
  return text.normalize('NFKD').replace(unheard, '').normalize('NFC').match(word) ?? [];
}

/** Gives a name as one word, without regard to case: no name is a part of another one's word. */
export function toNameWord(name: string): string {
  return Buffer.from(name.normalize('NFKC').toLowerCase()).toString('hex');
}
