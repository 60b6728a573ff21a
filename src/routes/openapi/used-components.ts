import type { JsonSchema } from '../../lib/json-schema.ts';

const prefix = '#/components/';

type Section = Readonly<Record<string, unknown>>;

/** Components by section, such as `schemas` or `examples` (OpenAPI 3.1 §4.8.7). */
export type Components = Readonly<Record<string, Section>>;

/** Removes components to which `document` does not refer, directly or indirectly. */
export function keepUsedComponents(document: JsonSchema, components: Components): Components {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
    if (typeof value !== 'string' || !value.startsWith(prefix) || used.has(value)) return;
    used.add(value);
    const [section = '', name = ''] = value.slice(prefix.length).split('/');
    visit(components[section]?.[name]);
  };
  visit(document);
  const sections = Object.entries(components).map(([section, members]) => {
    const kept = Object.entries(members).filter(([name]) =>
      used.has(`${prefix}${section}/${name}`),
    );
    return [section, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(sections);
}
