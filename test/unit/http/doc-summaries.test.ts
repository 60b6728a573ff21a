import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDocSummaries, summarizePage } from '../../../src/http/doc-summaries.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

describe('what a list says of a page', () => {
  it.each([
    ['# A `page`\n\nOne thing.\n', 'A page', 'One thing.'],
    ['# A\n\nOne [thing](x.md#y), *all*\nof it. More.', 'A', 'One thing, all of it.'],
    ['# A\n\nIt is at example.org and more. More.', 'A', 'It is at example.org and more.'],
    ['# A\n\nAll of these:\n\n- x', 'A', 'All of these:'],
    ['# A\n\n```sh\ncurl x\n\ncurl y\n```\n\n| a |\n| --- |\n\nText', 'A', 'Text'],
    ['# A\n\n| a |\n| --- |', 'A', ''],
    ['Text.', 'name', 'Text.'],
  ])('is its title and its first sentence: %j', (markdown, title, summary) => {
    expect(summarizePage('name', markdown)).toEqual({ name: 'name', title, summary });
  });

  it('begins with the page for newcomers', () => {
    const folder = temporaryFolder();
    for (const name of ['b.md', 'start.md', 'a.md', 'no-page.txt']) {
      writeFileSync(join(folder, name), `# ${name}\n\nText.\n`);
    }

    const pages = readDocSummaries(folder);

    expect(pages.map(({ name }) => name)).toEqual(['start', 'a', 'b']);
  });

  it('is there for every page of ours', () => {
    for (const page of readDocSummaries('docs')) {
      expect(page).toEqual({
        name: expect.stringMatching(/^[a-z-]+$/),
        title: expect.stringMatching(/^[A-Z]/),
        summary: expect.stringMatching(/^\S.{15,}[.:]$/),
      });
    }
  });
});
