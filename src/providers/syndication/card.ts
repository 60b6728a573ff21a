import type { Card } from '../../model/card.ts';
import { known } from '../known.ts';
import { isWebUrl } from '../text.ts';
import type { CardPayload, PostPayload } from './payload.ts';
import { isPoll } from './poll.ts';

/** Returns the preview of the page that a post links to; `null` where there is none. */
export function shapeCard({ card, entities }: PostPayload): Card | null {
  if (card === null || isPoll(card)) return null;
  const { title, description, domain, vanity_url } = card.binding_values;
  const target = targetOf(card, entities?.urls ?? []);
  if (target === null || (title ?? description) === null) return null;
  const image = pictureOf(card);
  return {
    url: target,
    title: title ?? '',
    description,
    image_url: image?.url ?? null,
    ...known({ image_alt: image?.alt, provider_name: vanity_url ?? domain }),
  };
}

type Links = NonNullable<PostPayload['entities']>['urls'];

/** The link of a card is short; the links of the post say where it leads. */
function targetOf({ binding_values, url }: CardPayload, links: Links): string | null {
  const short = binding_values.card_url ?? url;
  const target = links.find((link) => link.url === short)?.expanded_url ?? short;
  return target !== null && isWebUrl(target) ? target : null;
}

/** X makes several sizes of one picture, under the names of the kinds of card. */
function pictureOf({ binding_values: values }: CardPayload) {
  return (
    values.photo_image_full_size_large ??
    values.summary_photo_image_large ??
    values.player_image_large ??
    values.thumbnail_image_large ??
    values.thumbnail_image
  );
}
