import { readMarkdown } from './markdown.ts';
import type { ReadFile } from './section.ts';

/**
 * Reads Markdown with JSX in it: what components wrap is read as Markdown, their tags, imports and
 * exports are not. Properties that describe options (`name`, `type`, `description`) are told as items.
 */
export function readMdx(text: string): ReadFile {
  const state: State = { fence: '', isInTag: false, isInImport: false };
  // Line for line, so that lines keep their numbers.
  const lines = text.split('\n').map((line) => toMarkdownLine(line, state));
  return readMarkdown(lines.join('\n'));
}

interface State {
  /** The fence that code is in, if any. */
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
  // Indented text within a component is no code.
  return /^\s*<\/?[A-Za-z][^>]*>\s*$/.test(line) ? '' : line;
}

function nextFence(fence: string, open: string): string {
  return open !== '' && fence.startsWith(open) ? '' : open || fence;
}

/** Within a tag over several lines only what names and describes something is text. */
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
