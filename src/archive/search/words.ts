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
 * Marks that do not tell words apart: accents, the points of Hebrew, the vowels of Arabic, and its stretching; but not
 * the two marks that make other sounds of kana. Enclosing marks are none of the index's categories, so a word of them
 * alone would be sought and never found.
 */
const unheard =
  /(?![\u3099\u309a])(?=\p{M})[\p{Me}\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]|\u0640/gu;

const isAscii = /^[ -~\s]*$/;
const asciiWord = /[A-Za-z0-9]+/g;

/**
 * Returns the words of a text as the archive indexes and seeks them, in order. Each consists of letters, numbers,
 * marks and symbols only, so none can be read as FTS5 syntax. Text in scripts without spaces, and in Korean, is split
 * into its characters, to be found by part.
 */
export function toWords(text: string): readonly string[] {
  // Of ASCII the rules below leave no more than this, and most text of the web is ASCII.
  if (isAscii.test(text)) return text.match(asciiWord) ?? [];
  return text.normalize('NFKD').replace(unheard, '').normalize('NFC').match(word) ?? [];
}

const notAscii = /[^ -~\s]/g;

/**
 * Returns a text that the index splits into the words of `toWords`. It splits ASCII into the same words (`schema.ts`),
 * so only parts between two spaces with other characters are split here; no rule above reaches across a space.
 */
export function toIndexText(text: string): string {
  let written = '';
  let at = 0;
  for (let odd = seek(text, at); odd >= 0; odd = seek(text, at)) {
    const start = Math.max(text.lastIndexOf(' ', odd) + 1, at);
    const space = text.indexOf(' ', odd);
    const end = space < 0 ? text.length : space;
    written += `${text.slice(at, start)}${toWords(text.slice(start, end)).join(' ')}`;
    at = end;
  }
  return written + text.slice(at);
}

/** Returns the index of the first character that is not ASCII, from an index on; -1 if there is none. */
function seek(text: string, from: number): number {
  notAscii.lastIndex = from;
  return notAscii.exec(text)?.index ?? -1;
}

/** Returns a name as one word, without regard to case: no name is a part of another name's word. */
export function toNameWord(name: string): string {
  // ASCII is normal already.
  const normal = isAscii.test(name) ? name : name.normalize('NFKC');
  return Buffer.from(normal.toLowerCase()).toString('hex');
}
