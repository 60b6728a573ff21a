import { escapeHtml } from '../../render/html/escape.ts';

/** A line to copy. */
export interface CommandBlock {
  /** The element that is copied. */
  readonly id: string;
  /** What the button copies, after “Copy”, for those who do not see what it stands beside. */
  readonly name: string;
  readonly command: string;
}

/** Gives a line with a button that copies it; `copy.js` shows the button. */
export function renderCommand({ id, name, command }: CommandBlock): string {
  return `<div class="code command"><pre id="${id}"><code>${escapeHtml(command)}</code></pre><button type="button" class="copy" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${escapeHtml(name)}</span></button></div>`;
}
