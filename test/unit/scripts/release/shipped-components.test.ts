import { expect, it } from 'vitest';
import { keepShipped } from '../../../../scripts/release/shipped-components.ts';

const component = (name: string, version: string, isDevelopment: boolean) => ({
  'bom-ref': `${name}@${version}`,
  name,
  version,
  properties: isDevelopment ? [{ name: 'cdx:npm:package:development', value: 'true' }] : [],
});

it('keeps the bundled and the installed packages of a bill of materials, and the links between them', () => {
  const sbom = {
    metadata: { component: component('folder', '1.0.0', false) },
    components: [
      component('sqlite', '2.0.0', false),
      component('fastify', '5.0.0', true),
      component('ajv', '8.0.0', true),
      component('ajv', '6.0.0', true),
      component('typescript', '7.0.0', true),
    ],
    dependencies: [
      { ref: 'folder@1.0.0', dependsOn: ['sqlite@2.0.0', 'fastify@5.0.0', 'typescript@7.0.0'] },
      { ref: 'fastify@5.0.0', dependsOn: ['ajv@8.0.0'] },
      { ref: 'typescript@7.0.0', dependsOn: ['ajv@6.0.0'] },
    ],
  };

  const kept = keepShipped(sbom, 'ajv 8.0.0 (MIT)\n\nText\n\nfastify 5.0.0 (MIT)\n', 'perch');

  expect(kept.metadata.component.name).toBe('perch');
  expect(kept.components.map((one) => one['bom-ref'])).toEqual([
    'sqlite@2.0.0',
    'fastify@5.0.0',
    'ajv@8.0.0',
  ]);
  expect(kept.dependencies).toEqual([
    { ref: 'folder@1.0.0', dependsOn: ['sqlite@2.0.0', 'fastify@5.0.0'] },
    { ref: 'fastify@5.0.0', dependsOn: ['ajv@8.0.0'] },
  ]);
});
