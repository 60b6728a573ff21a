import type { PostDraft } from '../drafts.ts';

/** Eleni's engine room, with a quote of a post that is gone. */
export const ferry: readonly PostDraft[] = [
  {
    key: 'engine-first',
    by: 'eleni',
    at: '2024-04-10T05:33:08Z',
    text: 'Καλημέρα από το μηχανοστάσιο. Εδώ κάτω δεν έχει θέα, αλλά ό,τι βλέπετε εσείς εκεί πάνω κινείται επειδή το θέλω εγώ.',
    likes: 812,
  },
  {
    key: 'coffee-gif',
    by: 'eleni',
    at: '2024-11-03T06:20:55Z',
    text: 'Οκτώ μποφόρ. Το πλοίο κουνάει, ο καφές όχι.',
    likes: 1530,
    media: [
      {
        kind: 'gif',
        name: 'coffee-on-gimbal',
        size: [600, 600],
        seconds: 4.2,
        alt: 'Ένα φλιτζάνι καφέ κρεμασμένο σε αυτοσχέδια ανάρτηση μένει ακίνητο, ενώ όλο το δωμάτιο γέρνει δεξιά και αριστερά.',
      },
    ],
  },
  {
    key: 'coffee-gif-2',
    by: 'ada',
    at: '2024-11-03T07:01:33Z',
    text: 'I have a degree in this, and I have never seen it done better. What is the pivot made of?',
    likes: 214,
    to: 'coffee-gif',
  },
  {
    key: 'coffee-gif-3',
    by: 'eleni',
    at: '2024-11-03T07:15:49Z',
    text: 'A spoon, two nuts (M6), and my grandmother’s curtain ring.',
    likes: 566,
    lang: 'en',
    to: 'coffee-gif-2',
  },
  {
    key: 'wrong-island',
    gone: 'deleted',
    by: 'harbour',
    at: '2025-07-19T11:12:00Z',
    text: 'This post was deleted by its author.',
  },
  {
    key: 'wrong-island-quote',
    by: 'eleni',
    at: '2025-07-19T12:26:37Z',
    text: 'Το έσβησαν, αλλά το είδαμε όλοι: «το πλοίο έφτασε πέντε λεπτά νωρίτερα». Το καδράρω.',
    likes: 498,
    quote: 'wrong-island',
  },
  {
    key: 'wrong-island-2',
    by: 'harbour',
    at: '2025-07-19T13:00:00Z',
    text: 'It was the clock. The ship was on time, which is remarkable enough.',
    likes: 377,
    to: 'wrong-island-quote',
  },
  {
    key: 'first-engine-birthday',
    by: 'eleni',
    at: '2026-02-08T18:45:26Z',
    text: 'Η πρώτη μηχανή έκλεισε σήμερα τις 100.000 ώρες. Της έβαλα καινούργιο λάδι και της τραγούδησα. Η δεύτερη ζήλεψε και έχασε δέκα στροφές.',
    likes: 1270,
  },
  {
    key: 'first-engine-birthday-2',
    by: 'otto',
    at: '2026-02-08T19:22:58Z',
    text: 'Please tell her from me: the first hundred thousand are the hardest.',
    likes: 402,
    lang: 'en',
    to: 'first-engine-birthday',
  },
];
