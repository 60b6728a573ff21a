import { escapeInline } from './escape.ts';

const joinWith = (separator: string) => (parts: readonly (string | null)[]) =>
  parts.filter(Boolean).join(separator);

export const joinBlocks = joinWith('\n\n');

/** Joins the non-empty lines of a paragraph with hard breaks. */
export const joinLines = joinWith('  \n');

export const joinFacts = joinWith(' · ');

export const quoteBlock = (markdown: string): string => prefixLines(markdown, '> ', '> ');

/** Renders Markdown as a list item; `marker` is `- ` or a number such as `1. `. */
export const listItem = (markdown: string, marker = '- '): string =>
  prefixLines(markdown, marker, ' '.repeat(marker.length));

function prefixLines(markdown: string, first: string, rest: string): string {
  return markdown
    .split('\n')
    .map((line, index) => (line === '' ? rest.trimEnd() : `${index === 0 ? first : rest}${line}`))
    .join('\n');
}

/** Returns `Label: value`; an empty string if the value is `null` or empty. */
export const labelled = (label: string, value: string | null): string =>
  value ? `${label}: ${value}` : '';

/** Returns `2026-03-04 09:12 UTC`; the escaped input if `time` cannot be parsed. */
export const formatMinute = (time: string): string => toMinute(time) ?? escapeInline(time);

/** Returns `2026-03-04 09:12 UTC`; `null` if `time` cannot be parsed. */
export function toMinute(time: string): string | null {
  const iso = toIso(time);
  return iso === null ? null : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Returns `2026-03-04`; the escaped input if `time` cannot be parsed. */
export const formatDay = (time: string): string => toIso(time)?.slice(0, 10) ?? escapeInline(time);

function toIso(time: string): string | null {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

/** Formats a number, rounded: `4,186`. `Intl.NumberFormat` is five times as slow, and slow to load. */
export const formatNumber = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(?:\d{3}){1,6}$)/g, ',');

/** Returns `1 like` or `40 likes`; `null` if the number is `null`. */
export const formatCount = (value: number | null, one: string, many: string): string | null =>
  value === null ? null : `${formatNumber(value)} ${value === 1 ? one : many}`;

/** Formats seconds as `0:30`, `3:05` or `1:02:07`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

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
