import type { PostDraft } from '../drafts.ts';

/** Otto, who drove tram line 4 for thirty-one years. */
export const trams: readonly PostDraft[] = [
  {
    key: 'otto-first',
    by: 'otto',
    at: '2024-03-04T08:00:00Z',
    text: 'Erster Tag in Rente. Um 4:12 Uhr aufgewacht, Uniform angezogen, in der Küche gestanden. Meine Frau hat „Endstation“ gesagt und mir Kaffee gegeben.',
    likes: 1430,
  },
  {
    key: 'otto-first-2',
    by: 'haru',
    at: '2024-03-04T09:21:14Z',
    text: '4時12分なら、うちはもうパンが焼けています。よかったら毎朝おしゃべりしましょう。',
    likes: 322,
    to: 'otto-first',
  },
  {
    key: 'otto-first-3',
    by: 'otto',
    at: '2024-03-04T09:40:33Z',
    text: 'Guten Morgen! おはようございます！ I have asked the dictionary for this word and will now use it every day at 4:12.',
    likes: 508,
    lang: 'en',
    to: 'otto-first-2',
  },
  {
    key: 'glove',
    by: 'otto',
    at: '2024-12-12T17:25:50Z',
    text: `A story for the dark season. In the winter of my ninth year on line 4 I found a glove on the floor of the second car: red wool, a child’s, left hand. I pinned it to the board behind my seat, where the drivers hang what people lose.

Nobody came. In January I moved it to the window, so that it could be seen from the street. By February people waved at it. A woman at the Mill Lane stop told me that her son would not go to school unless the glove was on the tram, because then the day was going to be all right.

In March a girl got on, looked, and held up her right hand. Red wool. The whole car went silent. I unpinned the glove and gave it to her, and she put it on, and I am not ashamed to say that there was applause.

At the next stop the boy got on and looked at the empty pin. I have driven through snow and strikes and one wedding, and that was the worst minute of my working life.

Then the girl, who had seen his face, took off the glove and gave it back to me. “I have a pocket,” she said.

It rode with us for six more years. When I retired they put it in a frame. It hangs in the depot, next to the clock, and they tell me that the new drivers wave.`,
    likes: 3120,
    lang: 'en',
    moreReplies: 5,
  },
  {
    key: 'glove-2',
    by: 'miriam',
    at: '2024-12-12T18:02:27Z',
    text: 'I work with lost things for a living, and I had to close the door of the reading room for a moment.',
    likes: 611,
    to: 'glove',
  },
  {
    key: 'glove-3',
    by: 'eleni',
    at: '2024-12-12T18:40:55Z',
    text: 'Το διάβασα στο πλήρωμα, στο διάλειμμα. Ο λοστρόμος λέει ότι του μπήκε κάτι στο μάτι. Και στα δύο.',
    likes: 372,
    to: 'glove',
  },
  {
    key: 'glove-4',
    by: 'zhong',
    at: '2024-12-13T01:10:12Z',
    text: '好故事像好钟：没有一个零件是多余的。',
    likes: 540,
    to: 'glove',
  },
  {
    key: 'punctual',
    by: 'otto',
    at: '2025-07-02T06:30:00Z',
    text: 'Heute mit dem Bus gefahren. Er war zwei Minuten zu früh. Zu früh! Das ist schlimmer als zu spät: Wer zu spät kommt, bringt wenigstens alle mit.',
    likes: 866,
  },
  {
    key: 'punctual-2',
    by: 'zhong',
    at: '2025-07-02T07:02:41Z',
    text: '我店里的钟，快的修得比慢的多。人总是急着到明天。',
    likes: 401,
    to: 'punctual',
  },
  {
    key: 'tallest-tram',
    by: 'otto',
    at: '2025-11-15T12:00:00Z',
    text: 'Fun fact: our line 4 was the steepest tram line in the world.',
    likes: 122,
    lang: 'en',
    note: 'Readers added context: line 4 was the steepest tram line in its district. The district has two tram lines.',
  },
  {
    key: 'tallest-tram-2',
    by: 'otto',
    at: '2025-11-15T12:44:19Z',
    text: 'I withdraw the world. I keep the district.',
    likes: 980,
    lang: 'en',
    to: 'tallest-tram',
  },
  {
    key: 'otto-dog',
    by: 'otto',
    at: '2026-04-02T15:08:36Z',
    text: 'Der Hund hat heute zum ersten Mal eine Tür von selbst geöffnet und ist dann stehen geblieben, um zu warten, bis alle ausgestiegen sind. Ausbildung abgeschlossen. 🐕🚋',
    likes: 1204,
    media: [
      {
        kind: 'gif',
        name: 'dog-holds-door',
        size: [480, 480],
        alt: 'Ein brauner Hund steht in einer offenen Tür und schaut nach links, nach rechts und wieder nach links.',
      },
    ],
  },
];
