import { escapeInline } from './escape.ts';

/** Gives a moment to the minute, such as `2026-03-04 09:12 UTC`; the text itself if it is none. */
export function formatMinute(time: string): string {
  const iso = toIso(time);
  return iso === null ? escapeInline(time) : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Gives the day of a moment, such as `2026-03-04`; the text itself if it is none. */
export function formatDay(time: string): string {
  return toIso(time)?.slice(0, 10) ?? escapeInline(time);
}

function toIso(time: string): string | null {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

const grouped = new Intl.NumberFormat('en-US');

/** Gives a number with thousands separators, such as `4,186`. */
export function formatNumber(value: number): string {
  return grouped.format(value);
}

/** Gives a number with its noun, such as `1 like` or `40 likes`; null where it is not known. */
export function formatCount(value: number | null, one: string, many: string): string | null {
  return value === null ? null : `${formatNumber(value)} ${value === 1 ? one : many}`;
}

/** Gives seconds as `0:30`, `3:05` or `1:02:07`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
