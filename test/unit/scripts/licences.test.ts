import { describe, expect, it } from 'vitest';
import { listLicences } from '../../../scripts/licences.ts';

describe('the list of licences', () => {
  it('has the licence of each package once, and nothing about other files', () => {
    const text = listLicences([
      'src/main.ts',
      'node_modules/fastify/lib/reply.js',
      'node_modules/fastify/fastify.js',
      'node_modules/@fastify/cors/index.js',
    ]);

    expect(text.match(/^\S+ \d\S* \(.+\)$/gm)).toEqual([
      expect.stringMatching(/^@fastify\/cors .*\(MIT\)$/),
      expect.stringMatching(/^fastify .*\(MIT\)$/),
    ]);
    expect(text.match(/Permission is hereby granted/g)).toHaveLength(2);
  });

  it('refers to the home page of a package without a licence file', () => {
    expect(listLicences(['node_modules/@ipld/dag-cbor/src/index.js'])).toMatch(
      /\(Apache-2\.0 OR MIT\)\n\nThe package has no licence file\. See https:/,
    );
  });
});
