import { expect, it, onTestFinished } from 'vitest';
import { createLexicon } from '../../../../src/answers/engine/lexicon.ts';
import { readMessage } from '../../../../src/answers/engine/message.ts';
import { openPassageIndex } from '../../../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { readVocabulary } from '../../../../src/answers/text/words.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';

async function read(message: string) {
  const index = openPassageIndex(':memory:');
  onTestFinished(() => index.close());
  const text = '# Port\n\nAnother process listens on the port: address already in use. Docker.\n';
  await refreshIndex({ index, corpora: [corpusOf({ 'a.md': text })] });
  return readMessage(message, { lexicon: createLexicon(index), vocabulary: readVocabulary() });
}

it.each([
  ['Hi, I am new here. How do I set the port? Thanks!', 'How do I set the port?'],
  ['hey there how do I set the port thx', 'how do I set the port'],
  ['Sorry if this is a dumb question, but where is the port?', 'where is the port?'],
  ['quick question: port already in use', 'port already in use'],
  ['Dear team,\n\nset the port\n\nKind regards,\nAnna Nowak', 'set the port'],
  [
    'My boss is impatient. clients must not choose the port Have a nice day!',
    'clients must not choose the port',
  ],
  ['How do I set the port on my macbook Pro', 'How do I set the port'],
  ['Which port does Docker need, e.g. on a NAS?', 'Which port does Docker need, e.g. on a NAS?'],
  ['How do I\nset the port', 'How do I set the port'],
  ['What listens on the port of 127.0.0.1:8080', 'What listens on the port of '],
  ['What is 127.0.0.1?', 'What is 127.0.0.1?'],
  ['why?', 'why?'],
  ['Hello!', 'Hello!'],
])('finds the question in %j', async (message, asked) => {
  expect((await read(message)).asked).toBe(asked);
});

it.each([
  [
    'Error: listen EADDRINUSE: address already in use :::8080\n    at Server.listen (node:net:1817:16)',
    'listen address already in use',
  ],
  ['{"level":50,"msg":"port in use","pid":7}\nwhat now?', 'port in use what now?'],
  ['npm ERR! code EPORT\nnpm ERR! port failed', 'port'],
  ['EWHATEVER', 'EWHATEVER'],
])('asks for the known words of the error %j', async (message, asked) => {
  expect((await read(message)).asked).toBe(asked);
});

it('keeps the sentences about the subject apart from the question', async () => {
  expect(await read('I run it in Docker. The port is taken. Why is that? Cheers, Tom')).toEqual({
    asked: 'The port is taken.',
    aside: 'I run it in Docker.',
  });
});
