import { expect, it } from 'vitest';
import { ownCorpus, walkCorpus } from '../../../../src/answers/corpus/corpus.ts';
import { navigation } from '../../../../src/http/pages/docs/navigation.ts';

it('answers from the pages of the documentation and CONTRIBUTING.md, not from records or the OpenAPI description', () => {
  const pages = [...walkCorpus(ownCorpus())].map(({ path }) => path);
  const listed = navigation
    .flatMap((group) => group.pages.map(({ name }) => `docs/${name}.md`))
    .filter((path) => !/^docs\/api[./]/.test(path));

  expect(pages.toSorted()).toEqual(['CONTRIBUTING.md', ...listed].toSorted());
});
