import { expect, it } from 'vitest';
import { Html, html } from '../../../src/render/html/markup.ts';

const hostile = '"><script>alert(1)</script>';

it('escapes texts, also those in lists', () => {
  const rendered = String(html`<p title="${hostile}">${[hostile, ['&']]}</p>`);

  expect(rendered).not.toContain('<script');
  expect(rendered).toMatch(/^<p title="&quot;&gt;&lt;.*&quot;&gt;.*&amp;<\/p>$/);
});

it('inserts HTML as it is', () => {
  expect(String(html`<ul>${['a', 'b'].map((name) => html`<li>${name}</li>`)}</ul>`)).toBe(
    '<ul><li>a</li><li>b</li></ul>',
  );
  expect(String(html`${new Html('<br>')}`)).toBe('<br>');
});

it('leaves out absent values, but not the number 0', () => {
  expect(String(html`${false}${null}${undefined}${''}${0}`)).toBe('0');
});
