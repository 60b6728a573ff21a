import type { PostDraft } from '../drafts.ts';

/** Devika's Monday puzzles, with the class of 8-B and everyone who joins it. */
export const puzzles: readonly PostDraft[] = [
  {
    key: 'chalk',
    by: 'devika',
    at: '2024-04-15T08:22:37Z',
    text: 'आज कक्षा में एक छात्र ने पूछा: “मैम, शून्य का जन्मदिन कब होता है?” मैंने कहा: “जब कोई नहीं आता।” फिर सबने मिलकर मनाया। #कक्षा_8ब',
    likes: 1120,
    lang: 'hi',
  },
  {
    key: 'twelve-stairs',
    by: 'devika',
    at: '2025-05-05T04:00:00Z',
    text: `Monday puzzle. A staircase has 12 steps. You climb 1 or 2 steps at a time. In how many ways can you reach the top?

No code, please. @bruna.example, I mean you. #MondayPuzzle`,
    likes: 402,
  },
  {
    key: 'stairs-bruna',
    by: 'bruna',
    at: '2025-05-05T08:14:20Z',
    text: `I did not write code. I wrote *a table*, by hand, like an animal:

1. one step: 1 way
2. two steps: 2 ways
3. three steps: 3 ways
4. four steps: 5 ways

Each row is the sum of the two above. At step 12 that makes 233.`,
    likes: 266,
    to: 'twelve-stairs',
  },
  {
    key: 'stairs-devika',
    by: 'devika',
    at: '2025-05-05T08:40:51Z',
    text: 'Correct, and beautifully grumpy. Now prove that each row is the sum of the two above.',
    likes: 188,
    to: 'stairs-bruna',
  },
  {
    key: 'stairs-proof',
    by: 'bruna',
    at: '2025-05-05T09:05:16Z',
    text: 'Your last move was either 1 or 2. Before it you stood one step lower or two steps lower. There is no third place to have been. QED, and my knees hurt.',
    likes: 431,
    to: 'stairs-devika',
  },
  {
    key: 'stairs-faro',
    by: 'faro',
    at: '2025-05-05T09:30:28Z',
    text: 'Con 187 escalones, ¿cuántas maneras son? Pregunto porque creo que las he probado todas.',
    likes: 702,
    to: 'twelve-stairs',
  },
  {
    key: 'stairs-faro-2',
    by: 'devika',
    at: '2025-05-05T10:12:09Z',
    text: 'A number with 39 digits, beginning with 8. If you took one way each second since the first star lit up, you would still be on the stairs.',
    likes: 590,
    to: 'stairs-faro',
  },
  {
    key: 'stairs-faro-3',
    by: 'faro',
    at: '2025-05-05T10:20:44Z',
    text: 'Eso explica lo de las gafas.',
    likes: 655,
    to: 'stairs-faro-2',
  },
  {
    key: 'pi-day',
    by: 'devika',
    at: '2026-03-14T03:14:15Z',
    text: 'कक्षा 8-ब ने आज धागे और थाली से π नापा: 3.12, 3.16, 3.14 और एक बार 4.0 (थाली टेढ़ी थी)। औसत से सब खुश हैं, थाली को छोड़कर।',
    likes: 876,
    lang: 'hi',
    media: [
      {
        kind: 'photo',
        name: 'measuring-pi',
        size: [1600, 1200],
        alt: 'मेज़ पर स्टील की थालियाँ, रंगीन धागे और एक कॉपी जिसमें चार माप लिखे हैं।',
      },
    ],
  },
  {
    key: 'pi-day-2',
    by: 'otto',
    at: '2026-03-14T07:50:02Z',
    text: 'The turning loop at Waldrand measured π = 3.3. It was the snow.',
    likes: 244,
    lang: 'en',
    to: 'pi-day',
  },
  {
    key: 'hiring',
    by: 'devika',
    at: '2026-05-18T10:30:00Z',
    text: 'Two students of 8-B will spend July with @ada.example on the estuary. They have bought boots. They have also bought a notebook for the heron, “so that it can keep its own”.',
    likes: 1311,
    quote: 'control-5',
  },
  {
    key: 'hiring-2',
    by: 'ada',
    at: '2026-05-18T10:47:25Z',
    text: 'It has accepted. It ate the first page.',
    likes: 995,
    to: 'hiring',
  },
];
