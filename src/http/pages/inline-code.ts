import { escapeHtml } from '../../render/html/escape.ts';

/** Gives a sentence as HTML; what stands in backticks is code. */
export function renderCode(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>');
}
