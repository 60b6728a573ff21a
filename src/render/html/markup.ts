import { toMinute } from '../markdown/layout.ts';
import { escapeHtml, escapeLine } from './escape.ts';

/** Joins the non-empty parts with line feeds. */
export const joinParts = (parts: readonly (string | null)[]): string =>
  parts.filter(Boolean).join('\n');

/** Renders a paragraph; an empty string if it has no content. `name`: CSS class. */
export const paragraph = (html: string | null, name = ''): string =>
  html ? `<p${name === '' ? '' : ` class="${name}"`} dir="auto">${html}</p>` : '';

/** Renders a list; an empty string if there are no items. `name`: CSS class. */
export function renderList(items: readonly string[], name = '', tag: 'ul' | 'ol' = 'ul'): string {
  if (items.length === 0) return '';
  const rows = items.map((item) => `<li dir="auto">${item}</li>`).join('\n');
  return `<${tag}${name === '' ? '' : ` class="${name}"`}>\n${rows}\n</${tag}>`;
}

/** Renders a heading of a level from 1 to 6. Deeper levels become 6. */
export const heading = (level: number, html: string): string => {
  const tag = `h${Math.min(level, 6)}`;
  return `<${tag} dir="auto">${html}</${tag}>`;
};

/** Renders a `time` element; text if the time cannot be parsed. */
export function renderTime(time: string, precision: 'minute' | 'day' = 'minute'): string {
  const minute = toMinute(time);
  if (minute === null) return escapeLine(time);
  const iso = new Date(time).toISOString();
  const shown = precision === 'day' ? minute.slice(0, 10) : minute;
  return `<time datetime="${escapeHtml(iso)}">${shown}</time>`;
}
