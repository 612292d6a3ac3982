import { css } from '../../../transcript/html/markup.ts'

/** Numbers, charts and heat maps. */
export const insights = css`
  @layer parts {
    .row + [data-zone] {
      margin-block-start: var(--s2);
    }
    [data-page='insights'] .day {
      flex-wrap: wrap;
      gap: 0 var(--s3);
    }
    .nums {
      display: grid;
      grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
      margin-block: var(--s4) var(--s5);
      border-block: 1px solid var(--line);
    }
    .nums > div {
      padding: var(--s3) var(--s4);
      border-inline-start: 1px solid var(--line);
    }
    .nums > div:first-child {
      padding-inline-start: 0;
      border-inline-start: 0;
    }
    .nums dt {
      color: var(--soft);
      font-size: var(--t2);
    }
    .nums dd {
      font-size: 1.375rem;
      font-weight: 600;
      font-variant-numeric: tabular-nums;
      letter-spacing: -0.02em;
    }
    .nums small {
      display: block;
      color: var(--faint);
      font-weight: 400;
      letter-spacing: 0;
    }
    .charts {
      display: grid;
      grid-template-columns: repeat(2, minmax(0, 1fr));
      gap: var(--s5) var(--s6);
      margin-block-end: var(--s3);
    }
    .chart > figcaption {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s1) var(--s4);
      align-items: baseline;
      margin-block-end: var(--s3);
      color: var(--soft);
      font-size: var(--t2);
    }
    .plot {
      display: grid;
      grid-template-columns: 3.25rem minmax(0, 1fr);
      gap: var(--s1) var(--s2);
      color: var(--faint);
      font-size: var(--t1);
      font-variant-numeric: tabular-nums;
    }
    .plot > svg {
      display: block;
      inline-size: 100%;
      block-size: 8rem;
      overflow: visible;
    }
    .plot .axis {
      fill: none;
      stroke: var(--line);
      stroke-width: 1px;
      vector-effect: non-scaling-stroke;
    }
    .plot .y {
      display: flex;
      flex-direction: column;
      justify-content: space-between;
      margin-block: -0.375rem;
      line-height: 1;
      text-align: end;
      white-space: nowrap;
    }
    .plot .x {
      grid-column: 2;
      display: flex;
    }
    .plot .x span {
      flex: 1;
      min-inline-size: 0;
      white-space: nowrap;
    }
    .m1,
    .h4 {
      fill: var(--ink);
    }
    .h0 {
      fill: var(--hover);
    }
    .h1 {
      fill: light-dark(#d3dbf9, #232c50);
    }
    .h2 {
      fill: light-dark(#a3b2ef, #3a4a8a);
    }
    .h3 {
      fill: light-dark(#6379dd, #6478cc);
    }
    .heat {
      display: block;
      max-inline-size: 100%;
      block-size: auto;
    }
    .heat + .heat {
      margin-block-start: var(--s3);
    }
    .heat text {
      fill: var(--faint);
      font: 11px var(--sans);
    }
    .key {
      display: inline-flex;
      gap: 0.25rem;
      align-items: center;
      color: var(--faint);
    }
    .key svg {
      inline-size: 0.625rem;
      block-size: 0.625rem;
    }
    .sums,
    .many {
      table-layout: fixed;
      font-variant-numeric: tabular-nums;
    }
    .sums th[scope='row'] {
      color: inherit;
      font-weight: 400;
    }
    .sums th.n {
      inline-size: 6.5rem;
    }
    .sums th > div {
      display: grid;
      grid-template-columns: 12rem minmax(0, 1fr);
      gap: var(--s4);
      align-items: center;
    }
    .share {
      display: block;
      inline-size: 100%;
      block-size: 0.5rem;
    }
    .many :is(th, td) {
      padding: 0.2rem var(--s1);
      font-size: var(--t1);
    }
    .many th[scope='row'] {
      color: var(--faint);
      font-weight: 400;
      white-space: nowrap;
    }
    .list .at b {
      display: block;
      color: var(--text);
      font-weight: 400;
      white-space: nowrap;
    }
  }
  @layer narrow {
    @media (width < 68.75em) {
      .sums th > div {
        grid-template-columns: minmax(0, 1fr);
        gap: 0.3rem;
      }
    }
    @media (width < 45em) {
      .charts {
        grid-template-columns: minmax(0, 1fr);
      }
      .nums {
        grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: var(--s3) 0;
        padding-block: var(--s3);
      }
      .nums > div {
        padding: 0 var(--s3) 0 0;
        border: 0;
      }
      .periods {
        display: flex;
        flex: 1 1 100%;
      }
      .sums :is(th, td) {
        padding-inline: 0.15rem;
        font-size: var(--t2);
      }
      .sums thead .n {
        inline-size: 4rem;
        font-size: 0.6875rem;
      }
      .sums.all thead .n:last-child {
        inline-size: 4.5rem;
      }
      .sums.few thead .n:last-child {
        inline-size: 5rem;
      }
      .list .at b {
        display: inline;
      }
    }
  }
  @layer print {
    @media print {
      .periods {
        display: none;
      }
      .chart,
      .sums tr {
        break-inside: avoid;
      }
      .chart svg,
      .share {
        -webkit-print-color-adjust: exact;
        print-color-adjust: exact;
      }
    }
  }
`
