import type { PostDraft } from '../drafts.ts';

/** The thread about the heron at gate 3, which the README reads, and the posts that it rests on. */
export const heron: readonly PostDraft[] = [
  {
    key: 'tide-table',
    by: 'harbour',
    at: '2026-03-30T08:02:14Z',
    text: `Low water in week 14: Mon 02:11, Tue 02:58, Wed 03:41, Thu 04:22, Fri 05:03. Saturday is closed for the rowing club’s cake.

The printed sheet is on the hut, as always, at a height for people.`,
    likes: 41,
  },
  {
    key: 'heron-1',
    by: 'ada',
    at: '2026-04-18T06:31:00Z',
    text: `The heron at gate 3 arrives six minutes before I open it. Every day.

The gate follows the tide, so it opens fifty minutes later each morning. So does the heron. I have nine weeks of logs, one notebook and one thermos, and today I know how it does it. #BirdDiary`,
    likes: 2140,
    styles: [['bold', 'six minutes before']],
    media: [
      {
        kind: 'photo',
        name: 'heron-at-dawn',
        size: [1600, 1067],
        alt: 'A grey heron on the top beam of a wooden sluice gate before sunrise. Mist lies on the channel behind it. One leg is tucked up, and it looks at the camera as if the camera were late.',
      },
    ],
  },
  {
    key: 'heron-2',
    by: 'ada',
    at: '2026-04-18T06:34:20Z',
    text: `First suspect: the timetable. @harbour.example pins it to the sluice hut every Monday, so I had to rule it out.

I took the sheet down for a week. Heron: six minutes early. I put up last year’s sheet for a week. Heron: six minutes early. It cannot read, or it has a better source than I do.`,
    likes: 871,
    to: 'heron-1',
    quote: 'tide-table',
  },
  {
    key: 'heron-3',
    by: 'ada',
    at: '2026-04-18T06:38:05Z',
    text: `Second suspect: me. I come along the dyke at the same pace every day, with a bag that has smelled of fish since the winter party.

So while @otto.example was here on holiday he opened the gate for a week, and I hid in the pump house.

Heron: six minutes early. Otto: on time to the second, and he would like that to be known.`,
    likes: 902,
    to: 'heron-2',
  },
  {
    key: 'heron-4',
    by: 'ada',
    at: '2026-04-18T06:43:51Z',
    text: `Third suspect: the gate. And here the hair on my arms stood up, because I wrote the program that runs it.

Before it moves, it warms the grease in the gearbox. The heater hums, so softly that I had to lay my ear on the beam to hear it. I had never noticed. I looked up how long it runs.

360 seconds.`,
    likes: 1233,
    to: 'heron-3',
    styles: [
      ['italic', 'I wrote the program'],
      ['bold', '360 seconds.'],
    ],
    media: [
      {
        kind: 'photo',
        name: 'gate-3-notebook',
        size: [1200, 1600],
        alt: 'A notebook page with three columns in pencil: gate, heron, difference. Every number in the last column is a 6, but for one minus 4 with a coffee ring around it.',
      },
    ],
  },
  {
    key: 'heron-5',
    by: 'ada',
    at: '2026-04-18T06:52:37Z',
    text: `This morning I ran the heater and kept the gate shut. Six minutes later there was a heron on the beam. It looked at the gate. Then it looked at me.

I apologised and opened up. It now stands in the log as assistant operator.

Nine weeks of data, and a chart that I am very proud of: https://diary.example/gate-3`,
    likes: 1788,
    to: 'heron-4',
    styles: [['italic', 'assistant operator']],
  },
  {
    key: 'heron-poll',
    by: 'ada',
    at: '2026-04-19T17:30:00Z',
    text: 'The assistant operator needs a name for the rota. You have two days. It has shown no interest in any of these. #BirdDiary',
    likes: 388,
    poll: {
      choices: [
        ['Grease', 412],
        ['Six-Minute Sheila', 268],
        ['Deputy', 731],
        ['Gerald', 689],
      ],
      endsAt: '2026-04-21T17:30:00Z',
    },
  },
  {
    key: 'heron-poll-otto',
    by: 'otto',
    at: '2026-04-19T18:11:09Z',
    text: 'Gerald. Every depot has a Gerald. He knows everything and nobody trained him.',
    likes: 96,
    lang: 'en',
    to: 'heron-poll',
  },
  {
    key: 'heron-poll-result',
    by: 'ada',
    at: '2026-04-21T17:44:12Z',
    text: 'Deputy it is, by 42 votes. @otto.example has asked for a recount, in writing, on tram company paper.',
    likes: 301,
    to: 'heron-poll-otto',
  },
  {
    key: 'heron-second',
    by: 'ada',
    at: '2026-06-12T05:58:40Z',
    text: 'Eight weeks on. Deputy has brought a second, smaller, scruffier heron, and the two of them stood on gate 3 this morning. Six minutes early. One of them was being shown where to stand.',
    likes: 1520,
    quote: 'heron-5',
    media: [
      {
        kind: 'photo',
        name: 'two-herons',
        size: [1600, 1067],
        alt: 'Two herons side by side on a sluice gate. The larger one stands straight. The younger one leans forward too far and holds out a wing to keep its balance.',
      },
    ],
  },
  {
    key: 'heron-second-harbour',
    by: 'harbour',
    at: '2026-06-12T08:00:30Z',
    text: 'For the record: trainees must sign the visitors’ book.',
    likes: 644,
    to: 'heron-second',
  },
];
