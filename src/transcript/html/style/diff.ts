import { css } from '../markup.ts'

/** Differences: a table with line numbers, signs and marked words. */
export const diff = css`
  @layer pages {
    .diff {
      background: var(--sheet);
      font: var(--t2) / 1.55 var(--mono);
      font-variant-ligatures: none;
      table-layout: fixed;
    }
    .diff td {
      padding: 0 var(--s2);
      overflow-wrap: anywhere;
      white-space: pre-wrap;
      vertical-align: top;
      tab-size: 4;
    }
    .diff .n {
      inline-size: 3.25rem;
      color: var(--faint);
      font-size: var(--t1);
      font-variant-numeric: tabular-nums;
      line-height: 1.25rem;
      text-align: end;
      user-select: none;
    }
    .diff .s {
      inline-size: 1.25rem;
      padding-inline: 0.3rem;
      color: var(--faint);
      user-select: none;
    }
    .diff .add td {
      background: var(--ok-tint);
    }
    .diff .add .s {
      color: var(--ok);
    }
    .diff .del td {
      background: var(--bad-tint);
    }
    .diff .del .s {
      color: var(--bad);
    }
    .diff :is(ins, del) {
      border-radius: 2px;
      text-decoration: none;
    }
    .diff ins {
      background: var(--ok-mark);
    }
    .diff del {
      background: var(--bad-mark);
    }
    .diff .gap td {
      padding-block: 0.15rem;
      background: var(--well);
      color: var(--faint);
      font-size: var(--t1);
    }
  }
`
