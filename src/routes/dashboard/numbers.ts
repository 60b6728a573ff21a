import { toIsoSeconds } from '../../lib/clock.ts';
import { type Html, html } from '../../render/html/markup.ts';

/** Formats a whole number: `12,345`. */
export const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US');

/** Formats a number with its noun: `1 post`. Pass `plural` unless it is the noun and `s`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Formats a percentage: `0%` and `100%` are exact. Returns `null` if the whole is 0. */
export function formatShare(part: number, whole: number): string | null {
  if (whole === 0) return null;
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.1) return 'less than 0.1%';
  if (percent < 10) return `${Number(percent.toFixed(1))}%`;
  return `${percent === 100 ? 100 : Math.min(99, Math.round(percent))}%`;
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size in bytes with three digits: `512 bytes`, `1.25 MiB`, `340 GiB`. */
export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1023.5 && unit < byteUnits.length - 1) [size, unit] = [size / 1024, unit + 1];
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${formatCountWith(size, digits)} ${byteUnits[unit]}`;
}

const formatCountWith = (number: number, digits: number) =>
  number.toLocaleString('en-US', { maximumFractionDigits: digits });

const durationUnits = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a duration with its two largest units: `3 d 4 h`, `2 min 5 s`, `8 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const first = durationUnits.findIndex(([, size]) => seconds >= size);
  if (first === -1) return '0 s';
  let left = seconds;
  const parts = durationUnits.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? '' : `${count} ${unit}`;
  });
  return parts.filter((part) => part !== '').join(' ');
}

/** Formats milliseconds: `0.4 ms`, `35 ms`, `2.1 s`. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 || ms === 0 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

export const formatClock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

export const formatDay = (ms: number): string => toIsoSeconds(ms).slice(0, 10);

/** Renders a time to the minute as HTML, such as `2026-11-21 00:00 UTC`. */
export function renderTime(ms: number): Html {
  const iso = toIsoSeconds(ms);
  return html`<time datetime="${iso}">${iso.slice(0, 10)}&nbsp;${iso.slice(11, 16)}&nbsp;UTC</time>`;
}

/** Renders a past time with its distance from now: `2026-11-21 12:05 UTC (8 min ago)`. */
export const renderPast = (ms: number, nowMs: number): Html =>
  html`${renderTime(ms)} (${nowMs - ms < 1000 ? 'now' : `${formatDuration(nowMs - ms)} ago`})`;
