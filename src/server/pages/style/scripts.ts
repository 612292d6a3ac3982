import { css } from '../../../transcript/html/markup.ts'

/** What the scripts of pages add: buttons that copy, the list of keys, the palette. */
export const scripts = css`
  @layer parts {
    .said {
      position: fixed;
      inset-block-end: var(--s5);
      inset-inline-start: var(--s5);
      z-index: 9;
      inline-size: max-content;
      max-inline-size: calc(100vw - 2 * var(--s5));
      padding: var(--s2) var(--s4);
      border-radius: var(--r2);
      background: var(--text);
      color: var(--paper);
    }
    .said:empty {
      padding: 0;
    }
    .cmd .btn {
      margin-inline-start: auto;
    }
    .msg[data-ordinal] > .in {
      position: relative;
    }
    .copies,
    .copies-code {
      position: absolute;
      inset-block-start: 0;
      inset-inline-end: 0;
      z-index: 2;
      display: none;
      border-radius: var(--r1);
      background: var(--sheet);
    }
    .msg:is(:hover, :focus-within) > .in > .copies {
      display: flex;
    }
    .msg:is(:hover, :focus-within) > .in > .btn.copies-code {
      display: inline-flex;
    }
    .copies .btn,
    .copies-code {
      min-block-size: 1.5rem;
      padding: 0 0.3rem;
    }
    .pill span {
      font-variant-numeric: tabular-nums;
    }
    .lost {
      position: fixed;
      inset-block-start: calc(var(--bar) + var(--s3));
      inset-inline: 0;
      z-index: 6;
      inline-size: max-content;
      max-inline-size: calc(100vw - 2rem);
      margin-inline: auto;
      box-shadow: var(--float);
    }
    .find {
      position: fixed;
      inset-block-start: calc(var(--bar) + var(--s2));
      inset-inline-end: var(--s5);
      z-index: 6;
      display: flex;
      gap: var(--s1);
      align-items: center;
      inline-size: min(26rem, calc(100vw - 2rem));
      padding: var(--s1) var(--s2);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--sheet);
      box-shadow: var(--float);
    }
    :is(.find, .hits)[hidden] {
      display: none;
    }
    .find .field {
      display: flex;
      flex: 1;
      gap: var(--s2);
      align-items: center;
      min-inline-size: 0;
      min-block-size: var(--tap);
      padding-inline: var(--s2);
      border: 0;
    }
    .find .field:focus-within {
      outline: 0;
    }
    .find input {
      flex: 1;
      min-inline-size: 0;
      border: 0;
      outline: 0;
      background: none;
    }
    .find:has(input:focus-visible) {
      border-color: var(--ink);
      outline: 2px solid var(--ink);
    }
    .find [role='status'] {
      color: var(--soft);
      font-size: var(--t2);
      white-space: nowrap;
    }
    .find [aria-label='Previous'] svg {
      rotate: 180deg;
    }
    /* only while something is sought: each element would have these styles computed */
    .finding ::highlight(found) {
      background: var(--find);
    }
    .finding ::highlight(found-here) {
      background: var(--ink);
      color: var(--on-ink);
    }
    .msgs.virtual {
      position: relative;
      overflow-anchor: none;
    }
    .msgs.virtual > .item {
      position: absolute;
      inset-block-start: 0;
      inset-inline: 0;
      display: flow-root;
    }
    .msgs.virtual > .measure {
      position: absolute;
      inset-inline: 0;
      visibility: hidden;
    }
    .msgs.virtual > .measure > .item {
      display: flow-root;
    }
    dialog[open] {
      inset-block-start: min(12vh, 6rem);
      max-block-size: min(80vh, 44rem);
      margin-block: 0;
      overflow-y: auto;
    }
    dialog::backdrop {
      background: var(--scrim);
    }
    .palette[open] {
      inline-size: min(40rem, calc(100vw - 2rem));
      scroll-padding-block: 3.75rem 5rem;
    }
    .palette .field {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 3.25rem;
      padding-inline: var(--s4);
      border-block-end: 1px solid var(--line);
      background: var(--sheet);
    }
    .palette :is(.field, footer) {
      position: sticky;
      inset-block: 0;
      z-index: 1;
    }
    .palette .field:focus-within {
      outline: 0;
      border-color: var(--ink);
    }
    .palette .field input {
      flex: 1;
      min-inline-size: 0;
      border: 0;
      outline: 0;
      background: none;
      font-size: var(--t4);
    }
    .palette h3 {
      padding: var(--s3) var(--s4) var(--s1);
      color: var(--faint);
      font-size: var(--t1);
      font-weight: 550;
      letter-spacing: 0;
    }
    .bar .field {
      position: relative;
    }
    .hits {
      position: absolute;
      inset-block-start: 100%;
      inset-inline: 0;
      overflow-y: auto;
      max-block-size: 70dvh;
      border-radius: var(--r2);
      background: var(--sheet);
      box-shadow: var(--float);
      color: var(--text);
    }
    :is(.palette, .hits) li {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr) auto;
      column-gap: var(--s3);
      align-items: center;
      min-block-size: 2.25rem;
      margin-inline: var(--s2);
      padding: 0.4rem var(--s2);
      border-radius: var(--r1);
      cursor: pointer;
    }
    .palette li svg {
      color: var(--faint);
    }
    :is(.palette, .hits) li > span {
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    :is(.palette, .hits) li > .soft {
      display: -webkit-box;
      grid-column: 2;
      font-size: var(--t2);
      white-space: normal;
      overflow-wrap: anywhere;
      -webkit-box-orient: vertical;
      -webkit-line-clamp: 2;
    }
    :is(.palette, .hits) li:hover {
      background: var(--hover);
    }
    :is(.palette, .hits) [aria-selected='true'] {
      background: var(--ink-tint);
      box-shadow: inset 3px 0 0 var(--ink);
      color: var(--ink-strong);
    }
    :is(.palette, .hits) [aria-selected='true'] :is(.faint, .soft, kbd) {
      color: inherit;
    }
    :is(.palette, .hits) mark {
      background: none;
      color: var(--ink);
      font-weight: 650;
    }
    :is(.palette, .hits) p {
      padding: var(--s4);
    }
    .palette footer {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s4);
      margin-block-start: var(--s2);
      padding: var(--s2) var(--s4);
      border-block-start: 1px solid var(--line);
      background: var(--sheet);
      color: var(--soft);
      font-size: var(--t1);
    }
    .keys[open] {
      inline-size: min(46rem, calc(100vw - 2rem));
    }
    .keys header {
      display: flex;
      align-items: center;
      padding: var(--s4) var(--s5);
      border-block-end: 1px solid var(--line);
    }
    .keys > div {
      columns: 2;
      column-gap: var(--s6);
      padding: var(--s4) var(--s5) var(--s5);
    }
    .keys section {
      margin-block-end: var(--s4);
      break-inside: avoid;
    }
    .keys h3 {
      margin-block-end: var(--s1);
    }
    .keys dl {
      display: grid;
      grid-template-columns: 1fr auto;
      gap: 0.3rem var(--s4);
      color: var(--soft);
      font-size: var(--t2);
    }
    .keys dd {
      text-align: end;
      white-space: nowrap;
    }
  }
  @layer pages {
    .pill.newer {
      inset-block-start: calc(var(--bar) + var(--s3));
      block-size: max-content;
    }
    .pill.newer svg {
      rotate: 180deg;
    }
  }
  @layer narrow {
    @media (width < 45em) {
      dialog[open] {
        inset-block-start: 0;
        inline-size: 100%;
        max-inline-size: none;
        max-block-size: 100dvh;
        border-inline: 0;
        border-radius: 0 0 var(--r3) var(--r3);
      }
      :is(.palette, .hits) li {
        min-block-size: 2.75rem;
      }
      .keys > div {
        columns: 1;
        padding: var(--s4);
      }
      .keys header {
        padding: var(--s3) var(--s4);
      }
    }
  }
  @layer print {
    @media print {
      .copies,
      .copies-code,
      .said,
      .lost,
      .find {
        display: none;
      }
    }
  }
`
