import { css } from '../markup.ts'

/** Pages of the service: a narrow column with links, facts, buttons, and code to be copied. */
export const pages = css`
  .page {
    max-width: 36rem;
    margin: 8vh auto 0;
  }
  .page pre {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    font-size: 0.9rem;
    user-select: all;
  }
  .page dl {
    margin: 0 0 0.85rem;
  }
  .page dt {
    margin-top: 0.75rem;
    color: var(--quiet);
  }
  .page dd {
    margin: 0;
    font-weight: 600;
  }
  a {
    color: var(--accent);
    text-underline-offset: 0.15em;
  }
  button {
    margin: 1rem 0.75rem 0 0;
    padding: 0.5rem 1.25rem;
    border: 1px solid var(--quiet);
    border-radius: 0.4rem;
    background: var(--card);
    color: var(--text);
    font: inherit;
    cursor: pointer;
  }
  a:focus-visible,
  button:focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
`
