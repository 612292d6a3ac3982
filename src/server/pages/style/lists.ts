import { css } from '../../../transcript/html/markup.ts'

/** Lists of traces: times in the margin, left of one thin rule. */
export const lists = css`
  @layer parts {
    .day {
      display: flex;
      gap: var(--s3);
      align-items: baseline;
      padding-block: var(--s5) var(--s2);
      font-size: var(--t2);
      font-weight: 600;
      letter-spacing: 0;
    }
    .day small {
      color: var(--faint);
      font-size: inherit;
      font-weight: 400;
    }
    .list > li {
      position: relative;
      display: grid;
      grid-template-columns: var(--margin) minmax(0, 1fr) 15.75rem;
    }
    .list .at {
      padding-block: 0.8rem;
      color: var(--soft);
      font: var(--t1) / 1.375rem var(--mono);
    }
    .list .at small {
      display: block;
      color: var(--faint);
    }
    .list .in {
      min-inline-size: 0;
      padding: 0.7rem 0 0.8rem var(--s4);
      border-block-start: 1px solid var(--line);
      border-inline-start: 1px solid var(--line);
    }
    .list .end {
      min-inline-size: 0;
      padding: 0.8rem 0 0.8rem var(--s4);
      border-block-start: 1px solid var(--line);
    }
    .list > li:is(:hover, :focus-within) :is(.in, .end) {
      background: var(--hover);
    }
    .list .name {
      display: block;
      color: var(--text);
      font-size: 0.9375rem;
      font-weight: 550;
      line-height: 1.4;
      text-decoration: none;
      text-wrap: pretty;
    }
    .traces .name {
      display: -webkit-box;
      overflow: hidden;
      -webkit-box-orient: vertical;
      -webkit-line-clamp: 2;
    }
    .list .name::after {
      content: '';
      position: absolute;
      inset: 0;
    }
    .list .name:focus-visible {
      outline: 0;
    }
    .list .name:focus-visible::after {
      outline: 2px solid var(--ink);
      outline-offset: -2px;
    }
    .list .in .meta {
      flex-wrap: nowrap;
      white-space: nowrap;
    }
    .list .in .meta > * {
      flex: 0 1 auto;
      overflow: hidden;
      max-inline-size: 60%;
      text-overflow: ellipsis;
    }
    .list .in .meta > .on {
      flex: 1 1 0; /* what the others leave */
      max-inline-size: none;
    }
    .list .in .meta > :is(.live, .below, :has(.tag)) {
      flex: none;
    }
    .list .in .meta :is(code, bdi) {
      overflow: hidden;
      text-overflow: ellipsis;
    }
    .list .end .meta {
      gap: 0.1rem 0.7rem;
    }
    .list .in .meta > :is(.ns, .below) {
      position: relative;
      z-index: 1;
    }
    .list + .note,
    .list + .blank,
    .list + .more-link,
    section + .more-link {
      margin-block-start: var(--s5);
    }
    .more-link {
      margin-inline-start: var(--margin);
      padding-block-start: var(--s4);
    }
  }
  @layer narrow {
    @media (width < 45em) {
      .list > li {
        grid-template-columns: minmax(0, 1fr);
        padding-block: var(--s3);
        border-block-start: 1px solid var(--line);
      }
      .list > li :is(.at, .in, .end) {
        padding: 0;
        border: 0;
      }
      .list > li:is(:hover, :focus-within) :is(.in, .end) {
        background: none;
      }
      .list .at small {
        display: inline;
        margin-inline-start: var(--s3);
      }
      .list .end .strip {
        margin-block-start: var(--s2);
      }
      .list .in .meta {
        flex-wrap: wrap;
        white-space: normal;
      }
      .list .in .meta > .on {
        flex: 1 1 100%;
      }
      .seg:not(.push) {
        display: flex;
        flex: 1 1 100%;
      }
      .seg a {
        flex: 1;
        justify-content: center;
      }
    }
  }
`
