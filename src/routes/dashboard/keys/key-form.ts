import type * as z from 'zod';
import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { Problem } from '../../../lib/problem.ts';
import { escapeHtml } from '../../../render/html/markup.ts';

export interface KeyDefaults {
  /** Number of profiles, lists and searches that a key may request in each time window. */
  readonly allowance: number;
  /** Length in seconds of the time window to which `allowance` applies. */
  readonly windowSeconds: number;
}

/** Texts of the form fields as the operator typed them. */
export type KeyFields = Readonly<Record<'label' | 'allowance' | 'notes', string>>;

export const emptyFields: KeyFields = { label: '', allowance: '', notes: '' };

export function toFields({ label, allowance, notes }: KeyRecord): KeyFields {
  return { label, allowance: allowance === null ? '' : String(allowance), notes: notes ?? '' };
}

/** Reads the fields of a form. Converts CR LF, which browsers send, to LF. */
export function readFields(form: URLSearchParams): KeyFields {
  const read = (name: keyof KeyFields) => (form.get(name) ?? '').replaceAll('\r\n', '\n');
  return { label: read('label'), allowance: read('allowance').trim(), notes: read('notes') };
}

type FieldFaults = Readonly<Partial<Record<string, string>>>;

export type ParsedFields<Value> =
  | { readonly value: Value }
  | { readonly faults: FieldFaults; readonly problem: Problem };

/** Validates fields with the admin API's schema. Empty allowance and notes become `null`. */
export function parseFields<Value>(
  { label, allowance, notes }: KeyFields,
  schema: z.ZodType<Value>,
): ParsedFields<Value> {
  const parsed = schema.safeParse({
    label,
    allowance: allowance === '' ? null : toNumber(allowance),
    notes: notes.trim() === '' ? null : notes,
  });
  if (parsed.success) return { value: parsed.data };
  const faults: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0]);
    faults[name] ??= `The ${name} ${message}.`;
  }
  const detail = Object.values(faults).join(' ');
  return { faults, problem: new Problem('invalid_option', { detail }) };
}

const toNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);

export function renderFields(
  { label, allowance, notes }: KeyFields,
  defaults: KeyDefaults,
  faults: FieldFaults = {},
): string {
  return [
    renderField({
      ...{ name: 'label', label: 'Label', value: label, fault: faults.label, isRequired: true },
      hint: 'Name that you recognize, such as the person or program that uses the key.',
    }),
    renderField({
      ...{ name: 'allowance', label: 'Allowance', value: allowance, fault: faults.allowance },
      kind: 'number',
      hint: `Number of profiles, lists and searches in ${defaults.windowSeconds} seconds. If empty, the default applies: ${defaults.allowance}.`,
    }),
    renderField({
      ...{ name: 'notes', label: 'Notes', value: notes, fault: faults.notes, kind: 'text' },
      hint: 'Only operators see the notes.',
    }),
  ].join('\n');
}

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

function renderField(field: Field): string {
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
