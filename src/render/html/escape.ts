import { toLine } from '../markdown/characters.ts';

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Gives a text as the content of an element or of a quoted attribute (HTML and XHTML). Control
 * characters and half surrogates must be gone already; noncharacters, which XML refuses, become
 * U+FFFD.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** Gives a text on one line, without control characters, as the content of an element. */
export function escapeLine(text: string): string {
  return escapeHtml(toLine(text));
}
