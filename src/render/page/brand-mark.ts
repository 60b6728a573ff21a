/** SVG logo in the page's colours; `assets/favicon.svg` has fixed colours. */
export const brandMark =
  '<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="mark-perch" d="M3 27.5h26"/><path class="mark-bird" d="M4.5 10.6l6-1.9C11.6 5.9 14.1 4.2 17 4.2c4.1 0 7 3 7.3 7.2.3 4.6 1.3 8.1 4.7 11.9-4 .6-7.2.2-9.6-1.2-1.1.5-2.4.7-3.7.6-5.1-.3-8.3-4-7.7-9.3z"/><path class="mark-wing" d="M16.2 13.2c3.4.3 5.7 3.3 5.9 7.8-3.7-.3-6.3-3.3-5.9-7.8z"/><path class="mark-leg" d="M15.3 22.4v5M19 22v5.4"/><circle class="mark-eye" cx="15.6" cy="9.3" r="1.2"/></svg>';
