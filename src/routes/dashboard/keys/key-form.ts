import type { z } from 'zod';
import type { KeyRecord } from '../../../access/keys/key-record.ts';
import { Problem } from '../../../lib/problem.ts';
import { renderField } from '../fields.ts';

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
