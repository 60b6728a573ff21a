import { readMarkdown } from './markdown.ts';
import type { ReadFile } from './section.ts';

/** Parses MDX as Markdown without tags, imports and exports; option properties become items. */
export function readMdx(text: string): ReadFile {
  const state: State = { fence: '', isInTag: false, isInImport: false };
  // Converts each line separately, so that line numbers stay the same.
  const lines = text.split('\n').map((line) => toMarkdownLine(line, state));
  return readMarkdown(lines.join('\n'));
}

interface State {
  /** Opening fence of the current code block; an empty string outside code blocks. */
  fence: string;
  isInTag: boolean;
  isInImport: boolean;
}

function toMarkdownLine(line: string, state: State): string {
  const [, fence] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
  if (fence !== undefined && !state.isInTag) {
    state.fence = nextFence(fence, state.fence);
    return line.trimStart();
  }
  if (state.fence !== '') return line;
  if (state.isInTag) return readPropertyLine(line, state);
  if (state.isInImport || /^(?:import|export)\s.*(?:from|['"{]|=)/.test(line)) {
    state.isInImport = !/['"};]$/.test(line.trimEnd());
    return '';
  }
  if (/^\s*<[A-Za-z][\w.]*(?:\s[^>]*)?$/.test(line)) {
    state.isInTag = true;
    return '';
  }
  // A line that is only a tag is dropped.
  return /^\s*<\/?[A-Za-z][^>]*>\s*$/.test(line) ? '' : line;
}

function nextFence(fence: string, open: string): string {
  return open !== '' && fence.startsWith(open) ? '' : open || fence;
}

function readPropertyLine(line: string, state: State): string {
  if (/^(?:\]\}|\}\})?\s*\/?>$/.test(line.trim())) {
    state.isInTag = false;
    return '';
  }
  const [, property, value] =
    /^\s*(?:(name|type|description|title|content):\s*)?["'`](.*?)["'`],?\s*$/.exec(line) ?? [];
  if (value === undefined || value === '') return '';
  return property === 'name' ? `- \`${value}\`` : `  ${value.replaceAll("\\'", "'")}`;
}
