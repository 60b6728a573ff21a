/**
 * Separates the characters `<%`, with which the Obsidian plugin Templater starts code, with a space. For texts in which
 * Markdown has no escapes, such as code.
 */
export const separateTemplates = (text: string): string => text.replace(/<(?=%)/g, '< ');

/** Returns whether the Obsidian plugin Dataview would run the content of a code span as a query or JavaScript. */
export const isInlineQuery = (code: string): boolean => /^\s*\$?=/.test(code);

const plainLanguages = new Set(
  `bash c c++ cpp cs csharp css diff go html http ini java javascript js json jsx kotlin kt lua markdown md php
  powershell py python rb rs ruby rust scala sh shell sql swift text toml ts tsx typescript xml yaml yml zsh`.split(
    /\s+/,
  ),
);

/**
 * Returns the language of a fenced code block; an empty string for languages in which Obsidian's plugins could run the
 * code, such as `dataviewjs`, and for unknown ones.
 */
export function toPlainLanguage(info: string): string {
  const language = /^[\w+]{1,20}$/.exec(info.trim())?.[0] ?? '';
  return plainLanguages.has(language.toLowerCase()) ? language : '';
}

/**
 * Escapes what Obsidian and its plugins hide or run in a line of Markdown: comments, the id of a block, fields, folded
 * callouts and inline queries.
 */
export const escapeNoteSyntax = (line: string): string =>
  line
    .replace(/%{2,}/g, (run) => '\\%'.repeat(run.length))
    .replace(/(?<![\p{L}\p{N}\p{M}\\])\^(?=[\w-]+\s*$)/u, '\\^')
    .replace(/(?<!:):{2,}(?=\s|$)|(?<=[[(][^[\]():]{0,100}):{2,}/g, (run) =>
      '\\:'.repeat(run.length),
    )
    .replace(/\[(?=![\w-]+\])/g, '\\[')
    .replace(/(^[ \t>]*|`[ \t]*)(?=\$?=)/g, '$1\\');
