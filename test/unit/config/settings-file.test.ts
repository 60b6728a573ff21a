import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/config/sources.ts';
import { fc, runs } from '../../support/fast-check.ts';

const path = '/etc/perch.env';

describe('a settings file', () => {
  it('has values with and without quotes, comments and empty lines', () => {
    const text = [
      '# a comment with PORT=1',
      '; another one',
      '',
      'PORT=9000',
      '  HOST=0.0.0.0  \r',
      'PERCH_USER_AGENT="Perch # of \'Example\'"',
      "PERCH_CURSOR_KEY='a\\b\"c=d'",
      'PERCH_CORPUS=/srv/docs,/srv/more docs',
      'PERCH_MODEL=',
      'PERCH_BASE_URL=https://perch.example.org/?a=$b',
    ].join('\n');

    const { lines, faults } = parseSettings(text, path);

    expect(faults).toEqual([]);
    expect(lines).toEqual([
      { name: 'PORT', value: '9000', line: 4 },
      { name: 'HOST', value: '0.0.0.0', line: 5 },
      { name: 'PERCH_USER_AGENT', value: "Perch # of 'Example'", line: 6 },
      { name: 'PERCH_CURSOR_KEY', value: 'a\\b"c=d', line: 7 },
      { name: 'PERCH_CORPUS', value: '/srv/docs,/srv/more docs', line: 8 },
      { name: 'PERCH_MODEL', value: '', line: 9 },
      { name: 'PERCH_BASE_URL', value: 'https://perch.example.org/?a=$b', line: 10 },
    ]);
  });

  it.each([
    ['PORT', 'This line is not of the form NAME=value.'],
    ['=9000', 'This line is not of the form NAME=value.'],
    ['PERCH-PORT=9000', 'This line is not of the form NAME=value.'],
    ['export PORT=9000', 'Remove “export”.'],
    ['PORT = 9000', 'Remove the spaces before “=”.'],
    ['PORT= 9000', 'Remove the spaces after “PORT=”.'],
    ['PORT=9000 # the port', 'Enclose the value of PORT in single quotes, and write a comment on'],
    ['PERCH_CURSOR_KEY=abc#def', 'Enclose the value of PERCH_CURSOR_KEY in single quotes'],
    ['PERCH_CURSOR_KEY="a\\nb"', 'Enclose the value of PERCH_CURSOR_KEY in single quotes'],
    ['PERCH_CURSOR_KEY=a\\b', 'Enclose the value of PERCH_CURSOR_KEY in single quotes'],
    ['PERCH_CURSOR_KEY="a', 'Enclose the value of PERCH_CURSOR_KEY in single quotes'],
    ["PERCH_CURSOR_KEY='a", 'The quotes in the value of PERCH_CURSOR_KEY are not valid.'],
    ["PERCH_CURSOR_KEY='a'b", 'The quotes in the value of PERCH_CURSOR_KEY are not valid.'],
    ['PORT=9000\u0000', 'Remove the control character.'],
    ['PERCH_CONFIG=/etc/other.env', 'PERCH_CONFIG has no effect in a settings file.'],
  ])('with the line %j has an error that names the file, the line and the mend', (line, fault) => {
    const { lines, faults } = parseSettings(`HOST=::1\n${line}\n`, path);

    expect(lines).toHaveLength(1);
    expect(faults).toEqual([expect.stringContaining(`/etc/perch.env, line 2: ${fault}`)]);
  });

  it('never shows a value, which may be a secret', () => {
    const { faults } = parseSettings('PERCH_ADMIN_TOKEN="swordfish\nswordfish\n', path);

    expect(faults).toHaveLength(2);
    expect(faults.join('\n')).not.toContain('swordfish');
  });

  it('sets each name once', () => {
    const { faults } = parseSettings('PORT=1\n\nPORT=2\n', path);

    expect(faults).toEqual([
      '/etc/perch.env, line 3: PORT is already set in line 1. Remove one of these lines.',
    ]);
  });

  it('has only lines that Node.js reads in the same way', () => {
    const characters = [...'aZ_ =#\'"`\\$;n'];
    const line = fc.array(fc.constantFrom(...characters)).map((tail) => `A=${tail.join('')}`);

    fc.assert(
      fc.property(line, (text) => {
        for (const { name, value } of parseSettings(text, path).lines) {
          expect(parseEnv(`B=b\n${text}\nC=c\n`)).toEqual({ B: 'b', [name]: value, C: 'c' });
        }
      }),
      { numRuns: runs(5000) },
    );
  });
});
