import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const syllables = 'ba co di fu ga he ji ko lu ma ne po qui ra se ti vo wa xe zu'.split(' ');
const filesInFolder = 50;

/** Random number generator with reproducible results. */
export interface Chance {
  /** Returns a random integer from 0 to `end` - 1. */
  below(end: number): number;
}

/** Creates a linear congruential random number generator with the constants of Numerical Recipes. */
export function createChance(seed: number): Chance {
  let state = seed;
  return {
    below: (end) => {
      state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
      return Math.floor((state / 4_294_967_296) * end);
    },
  };
}

/** Returns a made-up word. As in natural text, a few words are frequent and many are rare. */
function word(chance: Chance): string {
  let number = Math.floor(40_000 ** (chance.below(1_000_000) / 1_000_000)) + 20;
  let text = '';
  for (; number > 0; number = Math.floor(number / syllables.length)) {
    text += syllables[number % syllables.length];
  }
  return text;
}

const words = (chance: Chance, count: number) =>
  Array.from({ length: count }, () => word(chance)).join(' ');
const paragraph = (chance: Chance) => `${words(chance, 30 + chance.below(70))}.`;
const name = (chance: Chance) => {
  const [first = '', ...rest] = [word(chance), word(chance)];
  return first + rest.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join('');
};
const many = (count: number, make: () => string) => Array.from({ length: count }, make).join('\n');

function markdown(chance: Chance): string {
  const section = () =>
    `\n## ${words(chance, 3)}\n\n${paragraph(chance)}\n\n- ${words(chance, 12)}\n- \`${name(chance)}\`: ${words(chance, 9)}\n\n\`\`\`js\n${name(chance)}(${name(chance)});\n\`\`\`\n\n${paragraph(chance)}\n`;
  return `# ${words(chance, 3)}\n\n${paragraph(chance)}\n${many(3 + chance.below(8), section)}`;
}

function typescript(chance: Chance): string {
  const declaration = () =>
    `/** ${words(chance, 14)}. */\nexport function ${name(chance)}(${word(chance)}: string): string {\n${many(4 + chance.below(20), () => `  ${word(chance)}(${name(chance)}, '${word(chance)}');`)}\n}\n`;
  return `// ${words(chance, 20)}\n${many(4 + chance.below(10), declaration)}`;
}

function html(chance: Chance): string {
  const section = () =>
    `<h2 id="${word(chance)}">${words(chance, 3)}</h2>\n<p>${paragraph(chance)}</p>\n<table><tr><td>${words(chance, 4)}</td><td>${words(chance, 8)}</td></tr></table>\n<pre><code>${name(chance)}()</code></pre>`;
  return `<!doctype html><html><head><title>${words(chance, 3)}</title></head><body><nav>${many(20, () => `<a href="/">${word(chance)}</a>`)}</nav><main><h1>${words(chance, 3)}</h1>\n${many(4 + chance.below(9), section)}</main></body></html>`;
}

const kinds = [
  { extension: 'md', make: markdown },
  { extension: 'ts', make: typescript },
  { extension: 'html', make: html },
] as const;

/** Returns the path and the text of the generated file with a given number. */
export function makeFile(number: number): { readonly path: string; readonly text: string } {
  const chance = createChance(number + 1);
  const { extension, make } = kinds[number % kinds.length] ?? kinds[0];
  const folder = String(Math.floor(number / filesInFolder)).padStart(4, '0');
  return { path: `part-${folder}/${word(chance)}-${number}.${extension}`, text: make(chance) };
}

/** Writes generated files below a folder. Returns their total size in bytes. */
export function writeMadeFiles(folder: string, count: number): number {
  let bytes = 0;
  for (let number = 0; number < count; number += 1) {
    const { path, text } = makeFile(number);
    if (number % filesInFolder === 0) mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}
