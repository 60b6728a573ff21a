import { escapeInline } from './escape.ts';

const joinWith = (separator: string) => (parts: readonly (string | null)[]) =>
  parts.filter(Boolean).join(separator);

/** Joins blocks of Markdown with an empty line between them; leaves empty ones out. */
export const joinBlocks = joinWith('\n\n');

/** Joins lines of one paragraph with hard breaks; leaves empty ones out. */
export const joinLines = joinWith('  \n');

/** Joins facts on one line; leaves empty ones out. */
export const joinFacts = joinWith(' · ');

export const quoteBlock = (markdown: string): string => prefixLines(markdown, '> ', '> ');

/** Puts Markdown into a list item; `marker` is `- ` or a number such as `1. `. */
export const listItem = (markdown: string, marker = '- '): string =>
  prefixLines(markdown, marker, ' '.repeat(marker.length));

function prefixLines(markdown: string, first: string, rest: string): string {
  return markdown
    .split('\n')
    .map((line, index) => (line === '' ? rest.trimEnd() : `${index === 0 ? first : rest}${line}`))
    .join('\n');
}

/** Returns `Label: value`; empty if the value is. */
export const labelled = (label: string, value: string | null): string =>
  value ? `${label}: ${value}` : '';

/** Returns a moment to the minute, such as `2026-03-04 09:12 UTC`; the escaped text itself if it is no moment. */
export const formatMinute = (time: string): string => toMinute(time) ?? escapeInline(time);

/** Returns a moment to the minute, such as `2026-03-04 09:12 UTC`; `null` for a text that is no moment. */
export function toMinute(time: string): string | null {
  const iso = toIso(time);
  return iso === null ? null : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Returns the day of a moment, such as `2026-03-04`; the escaped text itself if it is no moment. */
export const formatDay = (time: string): string => toIso(time)?.slice(0, 10) ?? escapeInline(time);

function toIso(time: string): string | null {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

const grouped = new Intl.NumberFormat('en-US');

/** Returns a number with thousands separators, such as `4,186`. */
export const formatNumber = (value: number): string => grouped.format(value);

/** Returns a number with its noun, such as `1 like` or `40 likes`; `null` for `null`. */
export const formatCount = (value: number | null, one: string, many: string): string | null =>
  value === null ? null : `${formatNumber(value)} ${value === 1 ? one : many}`;

/** Returns seconds as `0:30`, `3:05` or `1:02:07`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
