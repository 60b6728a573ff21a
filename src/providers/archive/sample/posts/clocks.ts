import type { PostDraft } from '../drafts.ts';

/** Master Zhong, who mends clocks in Locust Lane. */
export const clocks: readonly PostDraft[] = [
  {
    key: 'clock-first',
    by: 'zhong',
    at: '2024-04-21T02:10:33Z',
    text: '徒弟教我上网，条件是我教他拆擒纵轮。他学得比我快。',
    likes: 476,
  },
  {
    key: 'door-clock',
    by: 'zhong',
    at: '2024-09-01T01:25:48Z',
    text: '常有人进门告诉我：“师傅，您门口的钟慢了十分钟。”这样每天都有人进来说话。#槐树巷',
    likes: 2480,
  },
  {
    key: 'door-clock-2',
    by: 'otto',
    at: '2024-09-01T06:44:15Z',
    text: 'My dictionary needed an hour, and then I laughed for ten minutes. I would come in every day.',
    likes: 511,
    lang: 'en',
    to: 'door-clock',
  },
  {
    key: 'door-clock-3',
    by: 'zhong',
    at: '2024-09-01T07:03:22Z',
    text: '来吧，茶在，钟慢，不急。',
    likes: 620,
    to: 'door-clock-2',
  },
  {
    key: 'ticking',
    by: 'zhong',
    at: '2025-03-16T08:00:09Z',
    text: '四十二座钟，同一个屋子，各走各的。听久了会合上一次，大约一年一回。昨天合上了，徒弟正好在录。',
    likes: 1390,
    media: [
      {
        kind: 'audio',
        name: 'forty-two-clocks',
        seconds: 37.4,
        alt: '四十二座钟的滴答声，从杂乱渐渐合成一声，又散开。',
      },
    ],
  },
  {
    key: 'ticking-2',
    by: 'devika',
    at: '2025-03-16T09:12:57Z',
    text: 'My class calculated how long forty-two clocks should take to agree by chance. The answer does not fit on the blackboard. Something else is going on in your shop, Master Zhong.',
    likes: 544,
    to: 'ticking',
  },
  {
    key: 'ticking-3',
    by: 'zhong',
    at: '2025-03-16T10:30:41Z',
    text: '架子是同一块木板做的。它们在悄悄商量。',
    likes: 1022,
    to: 'ticking-2',
  },
  {
    key: 'repair-video',
    by: 'zhong',
    at: '2025-10-11T03:37:26Z',
    text: '一位老太太送来的座钟，三十年没走。打开一看，里面藏着一封信和一块糖。信没拆，糖也没动，钟修好了。',
    likes: 3044,
    media: [
      {
        kind: 'video',
        name: 'clock-starts-again',
        size: [1280, 720],
        seconds: 48,
        alt: '一双手轻推钟摆，座钟重新走动；桌上放着一封旧信和一块用纸包着的糖。',
      },
    ],
  },
  {
    key: 'repair-video-2',
    by: 'miriam',
    at: '2025-10-11T05:02:13Z',
    text: 'Sealed? Addressed? Never sent? Master Zhong, my archive would like to be introduced to this lady.',
    likes: 402,
    to: 'repair-video',
  },
  {
    key: 'repair-video-3',
    by: 'zhong',
    at: '2025-10-11T06:20:37Z',
    text: '老太太说：信是她写的，收信人就住对门。今天下午她自己送过去了。糖一人一半。',
    likes: 4120,
    to: 'repair-video-2',
  },
];
