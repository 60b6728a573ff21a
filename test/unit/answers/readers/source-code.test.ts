import { describe, expect, it } from 'vitest';
import { readSourceCode } from '../../../../src/answers/readers/source-code.ts';

const summarize = (text: string) =>
  readSourceCode(text).sections.map(({ heading, line, blocks }) => [
    heading,
    line,
    ...blocks.map((block) => block.text),
  ]);

describe('readSourceCode', () => {
  it('parses TypeScript', () => {
    const text = [
      '/** Opens things. */',
      "import a from 'a';",
      '',
      '/**',
      ' * Opens a door.',
      ' *',
      ' * @throws when locked.',
      ' */',
      'export async function openDoor(key: Key): Promise<Door> {',
      '  return key.door;',
      '}',
      '',
      'const hidden = 1;',
    ].join('\n');

    expect(summarize(text)).toEqual([
      ['', 1, 'Opens things.'],
      [
        'openDoor',
        4,
        'Opens a door.',
        '@throws when locked.',
        'export async function openDoor(key: Key): Promise<Door> {\n  return key.door;\n}',
      ],
    ]);
  });

  it('parses Python with docstrings', () => {
    const text =
      '"""About doors."""\n\nclass Door:\n    """A door."""\n\n    def open(self):\n        """Opens it\n        slowly."""\n        pass\n';

    expect(summarize(text).map(([heading, , first]) => [heading, first])).toEqual([
      ['', 'About doors.'],
      ['Door', 'A door.'],
      ['open', 'Opens it slowly.'],
    ]);
  });

  it.each([
    ['func (d *Door) Open(key string) error {', 'Open'],
    ['pub fn open_door(key: &str) -> Door {', 'open_door'],
    ['    public static Door openDoor(Key key) {', 'openDoor'],
    ['type Door struct {', 'Door'],
    ['exports.openDoor = openDoor;', 'openDoor'],
  ])('finds the name in %j', (line, name) => {
    expect(summarize(`// Opens a door.\n${line}\n}\n`)).toContainEqual([
      name,
      1,
      'Opens a door.',
      expect.any(String),
    ]);
  });

  it.each(['  if (x) {', '  return open(door);', "import { a } from 'b';", 'door.open();'])(
    'finds no declaration in %j',
    (line) => {
      expect(summarize(line)).toEqual([]);
    },
  );
});
