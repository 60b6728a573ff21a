/** Separates `<%`, which runs code in Obsidian's Templater, where Markdown has no escapes. */
export const separateTemplates = (text: string): string => text.replace(/<(?=%)/g, '< ');

/** Returns whether Obsidian's Dataview would run a code span as a query or JavaScript. */
export const isInlineQuery = (code: string): boolean => /^\s*\$?=/.test(code);

const plainLanguages = new Set(
  `bash c c++ cpp cs csharp css diff go html http ini java javascript js json jsx kotlin kt lua markdown md php
  powershell py python rb rs ruby rust scala sh shell sql swift text toml ts tsx typescript xml yaml yml zsh`.split(
    /\s+/,
  ),
);

/** Returns the language; empty if unknown or if Obsidian's plugins could run such code. */
export function toPlainLanguage(info: string): string {
  const language = /^[\w+]{1,20}$/.exec(info.trim())?.[0] ?? '';
  return plainLanguages.has(language.toLowerCase()) ? language : '';
}

/** Escapes syntax that Obsidian and its plugins hide or run, such as inline queries. */
export const escapeNoteSyntax = (line: string): string =>
  line
    .replace(/%{2,}/g, (run) => '\\%'.repeat(run.length))
    .replace(/(?<![\p{L}\p{N}\p{M}\\])\^(?=[\w-]+\s*$)/u, '\\^')
    .replace(/(?<!:):{2,}(?=\s|$)|(?<=[[(][^[\]():]{0,100}):{2,}/g, (run) =>
      '\\:'.repeat(run.length),
    )
    .replace(/\[(?=![\w-]+\])/g, '\\[')
    .replace(/(^[ \t>]*|`[ \t]*)(?=\$?=)/g, '$1\\');
