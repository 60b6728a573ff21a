/** Symbols, and letters of Korean and of scripts without spaces. */
const singleCharacterWords = [
  ...['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'].map(
    (script) => String.raw`\p{Script_Extensions=${script}}`,
  ),
  String.raw`\p{So}`,
].join('');
const wordCharacter = String.raw`[\p{L}\p{N}\p{M}\p{So}\p{Co}]`;
const word = new RegExp(
  String.raw`(?=${wordCharacter})[${singleCharacterWords}]\p{M}*|(?:(?![${singleCharacterWords}])${wordCharacter})+`,
  'gu',
);

const ignoredMarks =
  /(?![\u3099\u309a])(?=\p{M})[\p{Me}\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]|\u0640/gu;

const isAscii = /^[ -~\s]*$/;
const asciiWord = /[A-Za-z0-9]+/g;

/**
 * Returns the words of a text for the index and for queries. Words cannot be parsed as FTS5 syntax.
 * Korean and scripts without spaces are split into characters, so that parts of words match.
 */
export function toWords(text: string): readonly string[] {
  // Fast path: for ASCII text, which is most text on the web, the rules below return the same
  // words.
  if (isAscii.test(text)) return text.match(asciiWord) ?? [];
  return text.normalize('NFKD').replace(ignoredMarks, '').normalize('NFC').match(word) ?? [];
}

const nonAsciiPattern = /[^ -~\s]/g;

/** Returns a text that the FTS5 tokenizer (`schema.ts`) splits into the same words as `toWords`. */
export function toIndexText(text: string): string {
  let written = '';
  let at = 0;
  for (let nonAscii = findNonAscii(text, at); nonAscii >= 0; nonAscii = findNonAscii(text, at)) {
    const start = Math.max(text.lastIndexOf(' ', nonAscii) + 1, at);
    const space = text.indexOf(' ', nonAscii);
    const end = space < 0 ? text.length : space;
    written += `${text.slice(at, start)}${toWords(text.slice(start, end)).join(' ')}`;
    at = end;
  }
  return written + text.slice(at);
}

function findNonAscii(text: string, from: number): number {
  nonAsciiPattern.lastIndex = from;
  return nonAsciiPattern.exec(text)?.index ?? -1;
}

/** Converts a name to one word of hex digits, ignoring case, to find only the complete name. */
export function toNameWord(name: string): string {
  // ASCII text is in NFKC already.
  const normal = isAscii.test(name) ? name : name.normalize('NFKC');
  return Buffer.from(normal.toLowerCase()).toString('hex');
}
