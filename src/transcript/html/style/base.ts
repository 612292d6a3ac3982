import { css } from '../markup.ts'

/** Elements as they look without any class, and the classes that can stand anywhere. */
export const base = css`
  @layer base {
    /* not of pseudo-elements: each element would have the styles of two computed */
    * {
      box-sizing: border-box;
    }
    html {
      scroll-padding-block: calc(var(--bar) + var(--s5));
      -webkit-text-size-adjust: none;
      text-size-adjust: none;
    }
    body {
      display: flex;
      flex-direction: column;
      min-block-size: 100dvh;
      margin: 0;
      background: var(--paper);
      color: var(--text);
      font: var(--t3) / 1.5 var(--sans);
      overflow-wrap: anywhere;
    }
    body > * {
      flex: none;
      inline-size: 100%;
    }
    h1,
    h2,
    h3,
    h4,
    h5,
    h6,
    p,
    ul,
    ol,
    dl,
    dd,
    figure,
    pre,
    blockquote {
      margin: 0;
      padding: 0;
    }
    h1,
    h2,
    h3 {
      font-weight: 620;
      line-height: 1.25;
      letter-spacing: -0.011em;
      text-wrap: balance;
    }
    h1 {
      font-size: var(--t6);
      letter-spacing: -0.018em;
    }
    h2 {
      font-size: var(--t5);
    }
    h3,
    h4,
    h5,
    h6 {
      font-size: var(--t3);
    }
    ul,
    ol {
      list-style: none;
    }
    a {
      color: var(--ink);
      text-decoration: underline 1px var(--ink-line);
      text-underline-offset: 0.18em;
    }
    a:hover {
      text-decoration-color: currentColor;
    }
    code,
    pre,
    kbd,
    samp,
    .mono {
      font-family: var(--mono);
      font-size: 0.9286em;
      font-variant-ligatures: none;
    }
    pre {
      font-size: var(--t2);
      line-height: 1.55;
      overflow-x: auto;
      overflow-wrap: normal;
      tab-size: 4;
    }
    :is(code, pre, kbd):not([dir]) {
      direction: ltr;
      unicode-bidi: isolate;
    }
    pre :is(code, samp) {
      font-size: inherit;
    }
    table {
      inline-size: 100%;
      border-collapse: collapse;
    }
    th {
      color: var(--soft);
      font-weight: 550;
      text-align: start;
    }
    small {
      font-size: var(--t1);
    }
    hr {
      margin-block: var(--s5);
      border: 0;
      border-block-start: 1px solid var(--line);
    }
    summary {
      list-style: none;
      cursor: pointer;
    }
    summary::-webkit-details-marker {
      display: none;
    }
    button,
    input,
    select,
    textarea {
      color: inherit;
      font: inherit;
    }
    time,
    .num,
    .no {
      font-variant-numeric: tabular-nums;
    }
    mark {
      padding-inline: 1px;
      border-radius: 2px;
      background: var(--find);
      color: inherit;
    }
    svg[hidden] {
      display: none;
    }
    svg.i {
      flex: none;
      inline-size: 1rem;
      block-size: 1rem;
      vertical-align: -0.17em;
      fill: none;
      stroke: currentColor;
      stroke-width: 1.75;
      stroke-linecap: round;
      stroke-linejoin: round;
    }
    :focus-visible {
      outline: 2px solid var(--ink);
      outline-offset: 2px;
      border-radius: var(--r1);
    }
    :target {
      scroll-margin-block-start: calc(var(--bar) + var(--s5));
    }
    ::selection {
      background: light-dark(#cdd7fb, #33447f);
    }
    .skip {
      position: absolute;
      inset-block-start: -10rem;
      inset-inline-start: var(--s4);
      z-index: 9;
      inline-size: auto;
      padding: var(--s2) var(--s4);
      border-radius: var(--r1);
      background: var(--ink);
      color: var(--on-ink);
    }
    .skip:focus {
      inset-block-start: var(--s2);
    }
    /* for screen readers only */
    .vh {
      position: absolute;
      inline-size: 1px;
      block-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
      white-space: nowrap;
    }
    .soft {
      color: var(--soft);
    }
    .faint {
      color: var(--faint);
    }
    .ok,
    .plus {
      color: var(--ok);
    }
    .bad,
    .minus {
      color: var(--bad);
    }
    .warn {
      color: var(--warn);
    }
    .plus,
    .minus {
      font-variant-numeric: tabular-nums;
      white-space: nowrap;
    }
  }
`
