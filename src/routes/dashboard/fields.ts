import { escapeHtml } from '../../render/html/markup.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  /** Error in the last submitted value, shown next to the field. */
  readonly fault?: string | undefined;
  /** `line` (default); `number`: a line with digit keys on phones; `text`: several lines. */
  readonly kind?: 'line' | 'number' | 'text';
  readonly isRequired?: boolean;
}

/** Renders a field; screen readers read its hint and error with it. */
export function renderField(field: Field): string {
  const { name, label, hint, fault } = field;
  const notes = [
    ...(fault === undefined ? [] : [['fault', 'field-fault', fault] as const]),
    ...(hint === undefined ? [] : [['hint', 'hint', hint] as const]),
  ];
  const ids = notes.map(([kind]) => `${name}-${kind}`).join(' ');
  const lines = notes.map(
    ([kind, style, text]) => `<p class="${style}" id="${name}-${kind}">${escapeHtml(text)}</p>`,
  );
  const attributes = [
    `id="${name}" name="${name}"`,
    ...(field.isRequired ? ['required'] : []),
    ...(fault === undefined ? [] : ['aria-invalid="true"']),
    ...(ids === '' ? [] : [`aria-describedby="${ids}"`]),
  ].join(' ');
  return `<div class="field">
<label for="${name}">${escapeHtml(label)}</label>
${renderControl(field, attributes)}
${lines.join('\n')}
</div>`;
}

function renderControl({ kind = 'line', value }: Field, attributes: string): string {
  // HTML parsers drop the first line break in a `textarea`. Without this one, they would drop a
  // line break at the start of the value.
  if (kind === 'text') return `<textarea ${attributes}>\n${escapeHtml(value)}</textarea>`;
  const digits = kind === 'number' ? ' inputmode="numeric"' : '';
  return `<input type="text" ${attributes}${digits} autocomplete="off" value="${escapeHtml(value)}">`;
}
