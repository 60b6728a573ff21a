import type { PostDraft } from '../drafts.ts';

/** Rada's hut at 2135 metres, where there is always tea. */
export const mountain: readonly PostDraft[] = [
  {
    key: 'hut-first',
    by: 'rada',
    at: '2024-03-18T13:40:22Z',
    text: 'Тук горе има едно място с обхват: голямата скала, на десния ѝ край, на един крак. Пиша кратко.',
    likes: 540,
  },
  {
    key: 'hut-rules',
    by: 'rada',
    at: '2024-07-28T17:15:09Z',
    text: `Правила на хижата:
1. Чаят е безплатен за мокрите.
2. Сухите могат да се намокрят.
3. Който хърка, цепи дърва.
4. Който твърди, че не хърка, цепи два пъти.`,
    likes: 1066,
  },
  {
    key: 'hut-rules-2',
    by: 'faro',
    at: '2024-07-28T18:02:51Z',
    text: 'Adoptamos la regla 4. Los gatos protestan.',
    likes: 287,
    to: 'hut-rules',
  },
  {
    key: 'first-snow',
    by: 'rada',
    at: '2024-10-19T06:08:47Z',
    text: 'Първи сняг. Лисицата мина по терасата, видя си стъпките и се върна да провери чии са.',
    likes: 1422,
    media: [
      {
        kind: 'photo',
        name: 'fox-tracks',
        size: [1500, 1000],
        alt: 'Дървена тераса с тънък нов сняг. Следи от лисица отиват до средата, обръщат се и се връщат.',
      },
    ],
  },
  {
    key: 'wind-sound',
    by: 'rada',
    at: '2025-03-29T22:55:30Z',
    text: 'Вятърът в комина тази нощ. Две минути. Кучето пее втори глас.',
    likes: 366,
    media: [
      {
        kind: 'audio',
        name: 'wind-in-the-chimney',
        seconds: 121,
        alt: 'Нисък вой на вятър в комин; след четиридесет секунди се включва куче.',
      },
    ],
  },
  {
    key: 'rescue',
    by: 'rada',
    at: '2025-08-31T15:29:14Z',
    text: 'Намерихме изгубените туристи. Седяха на двеста метра от хижата, в облака, и спореха накъде е север. И двамата сочеха към мен.',
    likes: 903,
  },
  {
    key: 'rescue-2',
    by: 'unfinished-maps',
    at: '2025-08-31T16:04:39Z',
    text: 'For one cloud, then, you were north. May we draw that?',
    likes: 612,
    to: 'rescue',
  },
  {
    key: 'rescue-3',
    by: 'rada',
    at: '2025-08-31T18:20:03Z',
    text: 'Може. Но не го довършвайте.',
    likes: 840,
    to: 'rescue-2',
  },
  {
    key: 'june-snow',
    by: 'rada',
    at: '2026-06-16T07:44:50Z',
    text: 'Шестнайсети юни, вали сняг. Календарът и аз вече не си говорим.',
    likes: 715,
  },
];
