import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generatedFiles } from './generated.ts';

for (const [path, content] of Object.entries(await generatedFiles())) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
