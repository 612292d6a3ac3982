import { css } from '../../../transcript/html/markup.ts'

/** What a session changed: a box for each file, in it the edits. */
export const changes = css`
  @layer parts {
    .file {
      scroll-margin-block-start: calc(var(--bar) + var(--s2));
      margin-block-start: var(--s5);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      overflow: clip;
    }
    .file > summary {
      position: sticky;
      inset-block-start: var(--bar);
      z-index: 2;
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2) var(--s3);
      align-items: center;
      min-block-size: 2.5rem;
      padding: var(--s2) var(--s4);
      border-block-end: 1px solid var(--line);
      background: var(--sheet);
      font-size: var(--t2);
    }
    .file > summary code {
      font-weight: 600;
    }
    .file > .edit {
      display: flex;
      gap: var(--s3);
      align-items: center;
      padding: 0.3rem var(--s4);
      border-block: 1px solid var(--line);
      background: var(--well);
      color: var(--soft);
      font-size: var(--t1);
    }
    .file > .edit:first-of-type {
      border-block-start: 0;
    }
    .file > .note {
      border: 0;
      border-radius: 0;
    }
    .file > :is(.say, .more, .fold) {
      padding: var(--s2) var(--s4);
    }
  }
  @layer narrow {
    @media (width < 45em) {
      .file {
        margin-inline: calc(-1 * var(--s4));
        border-inline: 0;
        border-radius: 0;
      }
      .file > summary,
      .file > .edit a {
        min-block-size: 2.75rem;
      }
      .file > .edit a {
        display: inline-flex;
        align-items: center;
      }
    }
  }
`
