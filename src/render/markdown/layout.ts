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

const grouped = new Intl.NumberFormat('en-US');

/** Formats a number: `4,186`. */
export const formatNumber = (value: number): string => grouped.format(value);

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
