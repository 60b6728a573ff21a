import { describe, expect, it } from 'vitest';
import { readSourceCode } from '../../../../../src/answers/readers/code/source-code.ts';

const summarize = (text: string, path = 'door.ts') =>
  readSourceCode(text, path).sections.map(({ heading, line, blocks }) => [
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
      ['', 12, 'const hidden = 1;'],
    ]);
  });

  it('parses Python with docstrings', () => {
    const text =
      '"""About doors."""\n\nclass Door:\n    """A door."""\n\n    def open(self):\n        """Opens it\n        slowly."""\n        pass\n';

    expect(summarize(text, 'door.py').map(([heading, , first]) => [heading, first])).toEqual([
      ['', 'About doors.'],
      ['Door', 'A door.'],
      ['Door.open', 'Opens it slowly.'],
    ]);
  });

  it.each([
    ['func (d *Door) Open(key string) error {', 'Door.Open', 'go'],
    ['pub fn open_door(key: &str) -> Door {', 'open_door', 'rs'],
    ['type Door struct {', 'Door', 'go'],
    ['exports.openDoor = openDoor;', 'openDoor', 'js'],
    ['app.use = function use(fn) {', 'app.use', 'js'],
    ['export const openDoor = (key) => {', 'openDoor', 'tsx'],
    ['public class Door {', 'Door', 'java'],
    ['static int open_door(struct key *key) {', 'open_door', 'c'],
    ['function open_door($key) {', 'open_door', 'php'],
    ['fun openDoor(key: Key): Door {', 'openDoor', 'kt'],
  ])('finds the name in %j', (line, name, extension) => {
    expect(summarize(`// Opens a door.\n${line}\n}\n`, `door.${extension}`)).toContainEqual([
      name,
      1,
      'Opens a door.',
      expect.any(String),
    ]);
  });

  it.each(['  if (x) {', '  return open(door);', "import { a } from 'b';", 'door.open();'])(
    'finds no declaration in %j',
    (line) => {
      expect(readSourceCode(line, 'door.ts').sections.flatMap(({ defines }) => defines)).toEqual(
        [],
      );
    },
  );

  it.each([
    [
      'ts',
      "export class Door {\n  /** How wide. */\n  width = 1;\n  #key = '';\n\n  /** Opens it. */\n  open<T>(key: T): void {\n    if (key) {\n      throw new Error('wrong key');\n    }\n  }\n}",
      { 'Door.width': 2, 'Door.open': 6 },
      ['Door', 'Door.width', 'width', 'Door.key', 'key', 'Door.open', 'open'],
    ],
    [
      'd.ts',
      'export interface Door {\n  /** Opens it. */\n  open(key: string): void;\n  width: number;\n}',
      { 'Door.open': 2 },
      ['Door', 'Door.open', 'open', 'Door.width', 'width'],
    ],
    [
      'py',
      'class Door:\n    width = 1\n\n    @cached\n    def open(self, key: str) -> None:\n        """Opens it."""\n        if not key:\n            raise ValueError("wrong key")\n',
      { 'Door.open': 4 },
      ['Door', 'Door.width', 'width', 'Door.open', 'open'],
    ],
    [
      'rb',
      "module House\n  class Door\n    # How wide.\n    attr_reader :width, :height\n\n    # Opens it.\n    def open! key\n      raise 'wrong key' unless key\n    rescue\n      nil\n    end\n\n    LOCKED = 1\n  end\nend",
      { 'Door.width': 3, 'Door.open!': 6 },
      ['House.Door.height', 'House.Door.open!', 'Door.open!', 'open!', 'Door.LOCKED'],
    ],
    [
      'go',
      'type Door struct {\n\t// Width is how wide.\n\tWidth int\n}\n\nconst (\n\t// Locked is a state.\n\tLocked = iota\n\tShut\n)\n\n// Open opens it.\nfunc (d *Door) Open(key string) error {\n\treturn errors.New("wrong key")\n}',
      { 'Door.Width': 2, Locked: 7, 'Door.Open': 12 },
      ['Door', 'Door.Width', 'Locked', 'Shut', 'Door.Open', 'Open'],
    ],
    [
      'rs',
      '/// A door.\npub struct Door {\n    /// How wide.\n    pub width: u32,\n}\n\nimpl Door {\n    /// Opens it.\n    pub fn open(&self, key: &str) -> Result<(), String> {\n        Err("wrong key".into())\n    }\n}',
      { 'Door.width': 3, 'Door.open': 8 },
      ['Door', 'Door.width', 'width', 'Door.open', 'open'],
    ],
    [
      'java',
      'public class Door {\n  /** Opens it. */\n  public void open(String key) {\n    throw new Error("wrong key");\n  }\n}',
      { 'Door.open': 2 },
      ['Door', 'Door.open', 'open'],
    ],
  ])('finds members with their comments in a .%s file', (extension, text, lines, names) => {
    const { sections } = readSourceCode(text, `door.${extension}`);

    const lineOf = (name: string) => sections.find(({ heading }) => heading === name)?.line;
    expect(Object.keys(lines).map((name) => [name, lineOf(name)])).toEqual(Object.entries(lines));
    expect(sections.flatMap(({ defines }) => defines)).toEqual(expect.arrayContaining(names));
  });

  it('keeps the whole code of a long function, in sections with its heading', () => {
    const body = Array.from({ length: 120 }, (_, at) => `  step${at}('message ${at}');`);
    const { sections } = readSourceCode(['function long() {', ...body, '}'].join('\n'), 'a.js');

    expect(sections.map(({ heading, defines }) => [heading, defines])).toEqual([
      ['long', ['long']],
      ['long', []],
      ['long', []],
    ]);
    expect(sections.at(-1)?.blocks.at(-1)?.text).toContain("step119('message 119');");
  });

  it.each([
    ['a.py', 'TEXT = """\ndef inner():\n"""\n\n\ndef outer():\n    pass\n'],
    [
      'a.js',
      '/*\nfunction inner() {}\n*/\nconst text = `\nfunction inner() {\n`;\nfunction outer() {}\n',
    ],
    ['a.rb', 'TEXT = <<~EOS\ndef inner\nEOS\n\ndef outer\n  1\nend\n'],
  ])('skips declarations in literals and comments of several lines in %s', (path, text) => {
    const names = readSourceCode(text, path).sections.flatMap(({ defines }) => defines);

    expect(names).toContain('outer');
    expect(names).not.toContain('inner');
  });
});
