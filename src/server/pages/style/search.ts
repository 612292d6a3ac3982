import { css } from '../../../transcript/html/markup.ts'

/** The page of a search: filters, and what was found by sessions. */
export const search = css`
  @layer parts {
    .bar .field {
      flex: 1 1 12rem;
      max-inline-size: 32rem;
      margin-inline: auto;
    }
    .row > .field {
      flex: 1 1 12rem;
    }
    .offers {
      display: grid;
      gap: var(--s2);
    }
    .chips {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2);
      align-items: center;
      margin-block-end: var(--s4);
    }
    .row + .chips,
    main > h2 + .row,
    .note + :is(.note, p) {
      margin-block-start: var(--s3);
    }
    .chip {
      display: inline-flex;
      gap: 0.35rem;
      align-items: center;
      min-block-size: 1.75rem;
      padding: 0 0.65rem;
      border: 1px solid var(--line);
      border-radius: 99px;
      background: var(--sheet);
      color: var(--soft);
      font-size: var(--t2);
      text-decoration: none;
    }
    .chip:hover {
      border-color: var(--edge);
      color: var(--text);
    }
    .chip.on {
      border-color: var(--ink-line);
      background: var(--ink-tint);
      color: var(--ink-strong);
    }
    .chip b {
      font-weight: 550;
    }
    .chip svg {
      inline-size: 0.875rem;
      block-size: 0.875rem;
    }
    .found {
      padding-block: var(--s4);
      border-block-start: 1px solid var(--line);
    }
    .row + .found {
      margin-block-start: var(--s3);
    }
    .found > h2 {
      font-size: 1rem;
      letter-spacing: 0;
    }
    .found > h2 a {
      color: var(--text);
      text-decoration: none;
    }
    .found > h2 a:hover {
      text-decoration: underline;
    }
    .found > p {
      margin-inline-start: calc(var(--margin) + var(--s2));
    }
    .found .list {
      margin-block-start: var(--s2);
    }
    .found .list > li {
      grid-template-columns: var(--margin) minmax(0, 1fr);
    }
    .found .list :is(.at, .in) {
      padding-block: var(--s2);
      border-block-start: 0;
    }
    .found .list .name {
      overflow-wrap: anywhere;
      font-size: var(--t3);
      font-weight: 400;
      line-height: 1.55;
    }
    .found .list .name.mono {
      font-size: var(--t2);
      white-space: pre-wrap;
    }
    .found .role {
      display: block;
      color: var(--faint);
      font-size: var(--t1);
    }
  }
  @layer narrow {
    @media (width < 45em) {
      .bar .field kbd {
        display: none;
      }
      .bar .field {
        margin-inline: 0;
      }
      .aside ul {
        display: flex;
        flex-wrap: wrap;
        column-gap: var(--s5);
      }
      /* as wide as the bar */
      .bar .field {
        position: static;
      }
      .hits {
        inset-inline: var(--s3);
      }
      .chips {
        flex-wrap: nowrap;
        overflow-x: auto;
        margin-inline: calc(-1 * var(--s4));
        padding: 2px var(--s4);
        scrollbar-width: none;
      }
      .chip {
        flex: none;
        min-block-size: 2.75rem;
      }
      .found > h2 a {
        display: inline-block;
        margin-block: -0.6rem;
        padding-block: 0.6rem;
      }
      .found .list > li {
        padding: var(--s2) 0 var(--s2) var(--s4);
        border: 0;
        border-inline-start: 1px solid var(--line);
      }
    }
  }
`
