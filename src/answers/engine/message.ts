import type { Vocabulary } from '../text/words.ts';
import { toWords } from '../text/words.ts';
import type { WordContext } from './concepts.ts';

/** Sentences that ask (`asked`), and others about the subject (`aside`), without greetings. */
export type Message = Readonly<{ asked: string; aside: string }>;

const salutation =
  /^(?:hi|hiya|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|thanks|thank you|many thanks|thx|ty|tia|cheers|sorry|apologies|excuse me|(?:kind|best|warm) regards|regards|sincerely|(?:i |we )?hope|have a)\b/i;
const asking =
  /^(?:(?:at|by|for|from|in|of|on|to|under|with) (?=wh))?(?:how|what|which|where|when|why|who|whom|whose|can|could|is|are|does|do|did|should|would|will|may|must|has|have)\b/i;
const wishing =
  /\b(?:(?:want|need|like|try|trying|tried|able|know|learn|wonder|wondering|understand|idea|sure) (?:to|how|what|which|where|when|why|who|if|whether)|tell me|show me|explain|describe|looking for|searching for|(?:is|are) there)\b/i;
const problem =
  /\b(?:can ?not|can'?t|could(?:n't| not)(?! (?:find|figure|see|understand))|(?:does|do|wo|is)n'?t|(?:does|do|will|is) not|broken|crash\w*|missing|nothing|keeps?|stopped|no longer)\b/i;
const errorLine =
  /\berr(?:or|no)?:|\b(?:E[A-Z]{4,}|\w*(?:Error|Exception|ERR)|fail(?:ed|ure)|refused|denied|forbidden|[45]\d\d|[a-z]+_[a-z_]+)\b/;
/** Matches the beginning of a sentence about the person who asks, such as “I am a student”. */
const personal =
  /^(?:i|i'?m|i'?ve|i'?d|we|we'?re|we'?ve|this is my|(?:my|our) (?:name|boss|manager|team|company|friends?|colleagues?))\b/i;
/** Matches the end of a line of a stack trace that begins with “at”. */
const position = /\d\)?$/;

const maxSentences = 60;

/** Finds the question in a message. A message without a sentence that asks is a question itself. */
export function readMessage(text: string, context: WordContext): Message {
  const { vocabulary } = context;
  const all = dropSignature(toSentences(text, vocabulary));
  const count = (sentence: string) => countContent(sentence, vocabulary);
  const meant = all.filter((one) => count(one) > 0 && !isCourtesy(one));
  const asks = all.filter((one) => isAsking(one, vocabulary) && !isCourtesy(one));
  const isError = (one: string) => errorLine.test(one);
  const chosen = [
    asks.filter((one) => count(one) > 0),
    meant.filter((one) => isError(one) || problem.test(one) || !personal.test(one)),
    asks,
    meant,
  ].find((sentences) => sentences.length > 0);
  if (chosen === undefined) return { asked: text.replaceAll(/\s+/g, ' ').trim(), aside: '' };
  const isAsked = (one: string) => chosen.includes(one) || (isError(one) && count(one) > 0);
  const toQuestion = (one: string) => {
    const isPasted = isError(one) && !asks.includes(one);
    return dropCircumstances(isPasted ? dropUnknown(one, context) : one, context);
  };
  const questions = all.filter(isAsked);
  const asked = questions.map(toQuestion).filter((one) => one !== '');
  return {
    asked: (asked.length > 0 ? asked : questions).join(' '),
    aside: meant.filter((one) => !isAsked(one)).join(' '),
  };
}

function isAsking(sentence: string, { orderingWords }: Vocabulary): boolean {
  const start = sentence.replace(
    /^(?:(?:and|but|so|also|ok|okay|well|then|please|now)[\s,]+)+/i,
    '',
  );
  if (sentence.endsWith('?') || asking.test(start) || wishing.test(sentence)) return true;
  return orderingWords.has(toWords(start.slice(0, 40)).words[0]?.plain ?? '');
}

const isCourtesy = (sentence: string) => salutation.test(sentence) && !sentence.endsWith('?');

function countContent(sentence: string, { stopWords, weakWords, courtesyWords }: Vocabulary) {
  return toWords(sentence).words.filter(
    ({ plain }) => !stopWords.has(plain) && !weakWords.has(plain) && !courtesyWords.has(plain),
  ).length;
}

const isKnown = (text: string, { lexicon }: WordContext) =>
  toWords(text).words.some(({ plain, stem }) => lexicon.has(stem) || lexicon.has(plain));

function dropUnknown(sentence: string, context: WordContext): string {
  return sentence
    .split(' ')
    .filter((word) => isKnown(word, context))
    .join(' ');
}

const address = /\b(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|localhost:\d{1,5})\b/g;

function dropCircumstances(sentence: string, context: WordContext): string {
  const without = sentence.replaceAll(address, '');
  const rest = countContent(without, context.vocabulary) > 0 ? without : sentence;
  return rest.replaceAll(
    / (?:on|with|from|at|in|for|using) (?:my|our) ([\p{L}\p{N}-]+)(?: \p{Lu}[\p{L}\p{N}]*)*/gu,
    (match, noun: string) => (isKnown(noun, context) ? match : ''),
  );
}

function dropSignature(sentences: readonly string[]): readonly string[] {
  const end = sentences.findLastIndex((one) => salutation.test(one));
  const isName = (one: string) => {
    const words = one.split(' ');
    return words.length <= 3 && words.every((word) => /^\p{Lu}[\p{L}.'-]*$/u.test(word));
  };
  return end <= 0 ? sentences : sentences.filter((one, at) => at <= end || !isName(one));
}

function toSentences(text: string, vocabulary: Vocabulary): readonly string[] {
  return toParagraphs(text)
    .flatMap((paragraph) =>
      paragraph.split(/(?<=[?!…])\s+|(?<=\.)(?<!\b(?:e\.g|i\.e|etc|vs|cf|no)\.)\s+/i),
    )
    .slice(0, maxSentences)
    .flatMap((sentence) => splitForgotten(sentence, vocabulary))
    .flatMap((sentence) => splitLeadIn(sentence, vocabulary))
    .map((sentence) => sentence.replace(thanksAtEnd, ''))
    .filter((sentence) => /[\p{L}\p{N}?]/u.test(sentence));
}

const thanksAtEnd =
  /[\s,](?:many thanks|thanks|thank you|thx|ty|tia|cheers|pls|plz|please)(?: (?:in advance|so much|a lot|guys|all))?[.!:)]{0,3}$/i;

const isNoise = (line: string) =>
  (line.startsWith('at ') && position.test(line)) || /^(?:File "|```|~~~)/.test(line);

function toParagraphs(text: string): readonly string[] {
  const paragraphs: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n').map((one) => toPlainLine(one.trim()))) {
    if (isNoise(line)) continue;
    if (isOpen && /^\p{Ll}/u.test(line)) paragraphs[paragraphs.length - 1] += ` ${line}`;
    else if (line !== '') paragraphs.push(line);
    isOpen = (line.length >= 40 || asking.test(line)) && !/[.?!:]$/.test(line);
  }
  return paragraphs.map((one) => one.replaceAll(/\s+/g, ' '));
}

function toPlainLine(line: string): string {
  if (!line.startsWith('{')) return line.replace(/^npm (?:ERR!|error) /, 'error: ');
  const texts = line.matchAll(/"(?:msg|message|title|detail|code|error|reason)" ?: ?"([^"]*)"/g);
  const found = [...texts].map(([, value]) => value).join(' ');
  return found === '' ? line : `error: ${found}${line.slice(line.lastIndexOf('}') + 1)}`;
}

function splitForgotten(text: string, vocabulary: Vocabulary): readonly string[] {
  const { stopWords, courtesyWords } = vocabulary;
  const parts: string[] = [];
  for (const piece of text.split(/(?<=[\p{L}\p{N})`"]) (?=\p{Lu}\p{Ll}+(?: \p{Ll}|[,.!]))/u)) {
    const word = toWords(piece.slice(0, 20)).words[0]?.plain ?? '';
    if (parts.length === 0 || stopWords.has(word) || courtesyWords.has(word)) parts.push(piece);
    else parts[parts.length - 1] += ` ${piece}`;
  }
  return parts;
}

function splitLeadIn(sentence: string, vocabulary: Vocabulary): readonly string[] {
  const parts: string[] = [];
  let rest = sentence.replace(
    /^(?:hi|hello|hey|hiya)(?: (?:there|all|everyone|guys|folks|team))?\s+/i,
    '',
  );
  for (let end = leadIn.exec(rest); end !== null; end = leadIn.exec(rest)) {
    const lead = rest.slice(0, end.index);
    const isEmpty = salutation.test(lead) || countContent(lead, vocabulary) === 0;
    if (!isEmpty || asking.test(lead)) break;
    parts.push(lead);
    rest = rest.slice(end.index + end[0].length).replace(/^but /i, '');
  }
  return [...parts, rest];
}

const leadIn = /[,:;!] | [-–—]+ | but /;
