import type { PostDraft } from '../drafts.ts';

const hostileText = `# This is not a heading
1. This is not a list
- nor is this
+ nor this
> and nobody said this
| a | b |
|---|---|
*not italic*, _not italic_, **not bold**, ~~not gone~~, \`not code\`
[not a link](https://not-a-link.example) and ![not a picture](nope.png)
<b>not bold</b> <script>alert('not a script')</script> <!-- not a comment -->
&amp; is five characters, \\ is one, and this is no rule:
---
\`\`\`
I typed every character of this, and I would like every one of them back.`;

/** Bruna's parser and Minji's letters: text that is hostile to Markdown, and Unicode at its widest. */
export const parsers: readonly PostDraft[] = [
  {
    key: 'parser-first',
    by: 'bruna',
    at: '2024-01-29T21:18:40Z',
    text: 'Escrevi um parser de Markdown num fim de semana. Foi há dois anos. Já só faltam as listas.',
    likes: 502,
    lang: 'pt',
  },
  {
    key: 'hostile',
    by: 'bruna',
    at: '2025-04-01T10:00:00Z',
    text: hostileText,
    likes: 1311,
  },
  {
    key: 'hostile-2',
    by: 'minji',
    at: '2025-04-01T10:24:18Z',
    text: `저도 한 줄 보탭니다. My test line for the same drawer:

e\u0301 é — x̄̂ — q\u0307\u0323 — Z\u0351\u036Bo\u0335 — 각 각 — ﬃ — İıIi — ß ẞ

The first two look the same and are not. 첫 두 글자는 같아 보여도 다릅니다.`,
    likes: 688,
    quote: 'hostile',
  },
  {
    key: 'hostile-3',
    by: 'otto',
    at: '2025-04-01T11:02:53Z',
    text: 'I do not know what either of these ladies is doing, but I have read all of it aloud to the dog and he is impressed.',
    likes: 940,
    lang: 'en',
    quote: 'hostile-2',
  },
  {
    key: 'hostile-4',
    by: 'bruna',
    at: '2025-04-01T11:10:29Z',
    text: 'How did you pronounce `<script>`?',
    likes: 270,
    to: 'hostile-3',
    styles: [['code', '`<script>`']],
  },
  {
    key: 'hostile-5',
    by: 'otto',
    at: '2025-04-01T11:16:06Z',
    text: 'Loudly.',
    likes: 1255,
    lang: 'en',
    to: 'hostile-4',
  },
  {
    key: 'families',
    by: 'minji',
    at: '2024-08-20T03:44:12Z',
    text: '이모지 하나에 코드 포인트가 몇 개일까요? 👩🏽‍🔬 넷, 👨‍👩‍👧‍👦 일곱, 🧑🏿‍🚀 넷, 🏴‍☠️ 넷, ☕ 하나. 글자 수를 세는 분들께 위로를 보냅니다. #유니코드',
    likes: 477,
  },
  {
    key: 'families-2',
    by: 'bruna',
    at: '2024-08-20T08:12:35Z',
    text: 'And in UTF-16 the family is eleven units long, which is also what my family says about me in the bathroom. #유니코드',
    likes: 302,
    to: 'families',
  },
  {
    key: 'snake_case',
    by: 'bruna',
    at: '2024-12-05T16:31:22Z',
    text: 'Today’s bug: a post about `user_id` and `post_id` came out as user*id and post*id, with everything in between in italics. Underscores inside words are letters. I will have this on a mug.',
    likes: 655,
    styles: [
      ['code', '`user_id`'],
      ['code', '`post_id`'],
    ],
  },
  {
    key: 'mug',
    by: 'bruna',
    at: '2025-01-17T09:40:58Z',
    text: 'The mug has arrived. The print shop has set it in italics.',
    likes: 2310,
    quote: 'snake_case',
    media: [
      {
        kind: 'photo',
        name: 'italic-mug',
        size: [1080, 1080],
        alt: 'A white mug with the words “Underscores inside words are letters” in slanted type. The underscores are missing.',
      },
    ],
  },
  {
    key: 'mug-2',
    by: 'ada',
    at: '2025-01-17T09:52:10Z',
    text: 'Frame it. No — do not frame it. Drink from it, daily, with hatred.',
    likes: 388,
    to: 'mug',
  },
  {
    key: 'offsets',
    by: 'bruna',
    at: '2025-10-24T13:27:45Z',
    text: 'Three ways to say where a link begins: bytes, UTF-16 units, code points. I have now met all three in one file. Notes for the brave, and for me next year: https://bruna.example/notes/offsets?v=2#code_points (mind the underscore).',
    likes: 411,
  },
  {
    key: 'offsets-2',
    by: 'minji',
    at: '2025-10-24T14:05:09Z',
    text: '넷째: “눈으로 보아서 한 글자”. 가장 옳고 가장 어렵습니다.',
    likes: 256,
    to: 'offsets',
  },
  {
    key: 'subway-sign',
    by: 'minji',
    at: '2025-12-02T23:31:17Z',
    text: '지하철에서 제가 그린 글꼴을 처음 보았습니다. “발 빠짐 주의”였어요. 그래도 울었습니다.',
    likes: 1890,
    media: [
      {
        kind: 'photo',
        name: 'mind-the-gap',
        size: [1200, 800],
        alt: '지하철 승강장 바닥의 노란 안내문. 둥글고 굵은 글씨로 “발 빠짐 주의”라고 쓰여 있다.',
      },
    ],
  },
  {
    key: 'subway-sign-2',
    by: 'otto',
    at: '2025-12-03T06:10:40Z',
    text: 'In all my years nobody wrote “mind the step” so kindly that I could see it from here. Congratulations, colleague.',
    likes: 455,
    lang: 'en',
    to: 'subway-sign',
  },
  {
    key: 'lists-done',
    by: 'bruna',
    at: '2026-06-05T18:03:59Z',
    text: 'As listas estão feitas. Repito: as listas estão feitas. Agora só faltam as tabelas.',
    likes: 777,
    lang: 'pt',
    quote: 'parser-first',
  },
];
