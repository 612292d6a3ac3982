import { css } from '../markup.ts'

/** Pages of the service in a narrow column, with facts, forms, and code to be copied. */
export const pages = css`
  @layer pages {
    .page {
      max-inline-size: 46rem;
      margin-inline: auto;
      padding: var(--s7) var(--s5);
    }
    .page > * + * {
      margin-block-start: var(--s4);
    }
    .page pre {
      padding: var(--s3) var(--s4);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
      overflow-wrap: anywhere;
      white-space: pre-wrap;
      user-select: all;
    }
    .page ul {
      padding-inline-start: 1.4rem;
      list-style: disc;
    }
    .page dt {
      margin-block-start: var(--s3);
      color: var(--faint);
    }
    .page dd {
      font-weight: 600;
    }
    .page button:not(.btn) {
      min-block-size: var(--tap);
      margin-inline-end: var(--s3);
      padding: 0.2rem var(--s4);
      border: 1px solid var(--edge);
      border-radius: var(--r1);
      background: var(--sheet);
      cursor: pointer;
    }
  }
`
