import type { ArticleDraft } from '../drafts.ts';

/** The article of the Museum of Unfinished Maps about the island in drawer 14. */
export const islandArticle: ArticleDraft = {
  title: 'The island that was drawn twice',
  preview:
    'Two careful surveyors, one fog and a lead weight. The strangest map in our museum, and the letters that explain it.',
  cover: 'two-north-coasts',
  modifiedAt: '2025-09-08T14:30:00Z',
  blocks: [
    {
      tag: 'p',
      text: 'In drawer 14 of our museum lies a map of an island with two north coasts and no south. It is drawn in two inks by two hands, both of them excellent. Every rock is where a rock ought to be. The three bays in the upper half are deep, shallow and deep. So are the three bays in the lower half, turned around, as if the island had looked at itself in a pond.',
      styles: [
        ['bold', 'two north coasts and no south'],
        ['italic', 'turned around'],
      ],
    },
    {
      tag: 'p',
      text: 'For ninety years the card in the drawer said: printing error. It is not a print. This summer we read the letters that came with it, and this is what they say.',
      styles: [['strikethrough', 'printing error']],
    },
    { h: 2, text: 'Two boats' },
    {
      tag: 'p',
      text: 'The island is called Little Sorrel, and it is so small that a loud person at one end can be heard at the other. In the spring of 1931 the lake authority sent two surveyors to draw it before the water was raised. Anna Hálková was to row around the north, Josef Mráz around the south. They would meet at the eastern tip, lay their sheets together, and be home for supper.',
    },
    { tag: 'p', text: 'Their instructions have survived. They are short:' },
    { tag: 'ol', text: 'Start at the western tip at eight o’clock, back to back.' },
    {
      tag: 'ol',
      text: 'Keep the shore on your inner side and your compass on the seat beside you.',
      styles: [['bold', 'on the seat beside you']],
    },
    { tag: 'ol', text: 'Take a bearing and a depth every fifty strokes. Write down both.' },
    { tag: 'ol', text: 'Do not talk across the island.' },
    {
      tag: 'p',
      text: 'At ten minutes past eight the fog came down. It stayed until four.',
    },
    {
      tag: 'image',
      media: {
        kind: 'photo',
        name: 'little-sorrel-fog',
        size: [1800, 1200],
        alt: 'An old photograph: a rowing boat on a lake, and behind it only white. A rope leads from the stern into the fog.',
      },
    },
    { h: 2, text: 'What they had with them' },
    {
      tag: 'ul',
      text: 'Anna: a compass, a chain, two pencils, bread, and a sounding line with a brass weight.',
    },
    {
      tag: 'ul',
      text: 'Josef: a compass, a chain, one pencil, a sausage, and a sounding line with an iron weight.',
      styles: [['bold', 'an iron weight']],
    },
    {
      tag: 'p',
      text: 'You have seen it already. It took us until August. A sounding line lies on the seat of a boat between two soundings, and so, by instruction, did the compass. Each time that Josef pulled his weight out of the water and put it down, the needle turned to greet it. He rowed where the needle told him. In the fog he passed the western tip again without seeing it, and drew the north coast of Little Sorrel for the second time that day, an hour behind Anna, upside down, with great care.',
    },
    { h: 3, text: 'The bearing book' },
    {
      tag: 'p',
      text: 'His book shows the moment. Here are five lines of it, copied as they stand. The third column is the depth in metres, the fourth what he noted while he waited for the line to stop swinging:',
    },
    {
      tag: 'code',
      text: `08:05   092°   3.1   clear, a duck
08:20   118°   4.0   fog
08:35   171°   4.4   fog, the duck again
08:50   243°   4.1   same duck? opposite side
09:05   268°   3.2   the duck is following me`,
    },
    {
      tag: 'p',
      text: 'The duck was not following him. The duck was sitting on its nest. He had gone around it.',
      styles: [['italic', 'The duck was sitting on its nest.']],
    },
    { h: 3, text: 'Two columns that should not agree' },
    {
      tag: 'markdown',
      text: `| bay | Anna, 1931 | Josef, 1931 | our boat, 2025 |
|:----|-----------:|------------:|---------------:|
| first | 4.4 m | 4.4 m | 11.9 m |
| second | 2.0 m | 2.1 m | 9.5 m |
| third | 4.9 m | 4.8 m | 12.4 m |

Take away the **7.5 m** by which the lake was raised, and the three columns agree to within a hand.`,
    },
    {
      tag: 'p',
      text: 'Two coasts of one island do not have the same three depths. One coast, sounded twice, has. We checked with a borrowed echo sounder and a bag of sandwiches; the readings are in our open notebook.',
      styles: [['link', 'our open notebook', 'https://unfinished-maps.example/drawer-14']],
    },
    { tag: 'divider' },
    { h: 2, text: 'Thirty years of letters' },
    {
      tag: 'p',
      text: 'At the eastern tip they laid the sheets together, and the sheets did not meet. Each of them seemed to believe that the other had made a mistake, and each was too polite to say so. They agreed to leave the matter open until one of them could come back. In June the water was raised. Little Sorrel went under, all but a rock and a willow, and nobody could come back.',
    },
    { tag: 'p', text: 'They wrote to each other every spring. From Josef, in 1946:' },
    {
      tag: 'quote',
      text: 'I have thought about your southern bays all winter. They are so like my own that I sometimes believe you dreamed my coast. Please forgive this. The willow is well.',
      styles: [['italic', 'your southern bays']],
    },
    { tag: 'p', text: 'And Anna’s answer:' },
    {
      tag: 'quote',
      text: 'Dear Josef, I drew the north. You drew the north. I have known since the first evening, and I did not want to be the one to take half an island away from you.',
    },
    {
      tag: 'p',
      text: 'That letter was never sent. It came to us with her papers, sealed and stamped, and we opened it in July.',
    },
    { tag: 'p', text: 'When we showed the sheet here for the first time, this is all we knew:' },
    { tag: 'post', key: 'two-coasts' },
    { h: 2, text: 'Why we will not finish it' },
    {
      tag: 'p',
      text: 'With two weeks and a diver we could draw the south coast of Little Sorrel today. People offer. We say thank you and decline. A finished map tells you about a place. This one tells you about two people in a fog, each doing the work well, each within hearing of the other, and forbidden by rule four to call out.',
      styles: [['italic', 'forbidden by rule four']],
    },
    {
      tag: 'p',
      text: 'The new card in drawer 14 says: Little Sorrel, north coast, twice. Surveyed by Anna Hálková and Josef Mráz. Cause of the error: iron + seat = duck. Visitors may ask to see the letter.',
      styles: [
        ['bold', 'Little Sorrel, north coast, twice.'],
        ['code', 'iron + seat = duck'],
      ],
    },
  ],
};
