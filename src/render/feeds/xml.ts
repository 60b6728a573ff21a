/** Values of XML attributes by name. `null` omits an attribute. */
export type Attributes = Readonly<Record<string, string | number | null>>;

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Escapes XML 1.0: U+FFFD for forbidden characters; CR, which parsers convert to LF. */
export const escapeXml = (text: string): string =>
  text.replace(forbidden, '\ufffd').replace(/[&<>\r]/g, (character) => references[character] ?? '');

const escapeValue = (value: string | number): string =>
  String(value)
    .replace(forbidden, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (character) => references[character] ?? '');

export const textElement = (name: string, text: string, attributes: Attributes = {}): string =>
  `${startTag(name, attributes)}>${escapeXml(text)}</${name}>`;

export const emptyElement = (name: string, attributes: Attributes): string =>
  `${startTag(name, attributes)}/>`;

/** Returns an element with children. `children` are XML texts; empty ones are omitted. */
export function parentElement(
  name: string,
  children: readonly string[],
  attributes: Attributes = {},
): string {
  const shown = children.filter((child) => child !== '');
  return `${startTag(name, attributes)}>\n${shown.join('\n')}\n</${name}>`;
}

/** Returns a start tag without the final `>`, so that the caller can add `/>` or `>`. */
export function startTag(name: string, attributes: Attributes): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === null ? '' : ` ${key}="${escapeValue(value)}"`,
  );
  return `<${name}${written.join('')}`;
}
