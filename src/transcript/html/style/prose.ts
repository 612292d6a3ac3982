import { css } from '../markup.ts'

/** Prose: headings, lists, code, tables, links. */
export const prose = css`
  h4,
  h5,
  h6 {
    margin: 1.4rem 0 0.5rem;
    line-height: 1.35;
  }
  h4 {
    font-size: 1.15rem;
  }
  h5 {
    font-size: 1.02rem;
  }
  h6 {
    font-size: 0.95rem;
    color: var(--quiet);
  }
  p {
    margin: 0 0 0.85rem;
  }
  .plain {
    white-space: pre-wrap;
  }
  ul,
  ol {
    margin: 0 0 0.85rem;
    padding-inline-start: 1.5rem;
  }
  li {
    margin: 0.2rem 0;
  }
  li > ul,
  li > ol {
    margin: 0.2rem 0;
  }
  blockquote {
    margin: 0 0 0.85rem;
    padding-inline-start: 1rem;
    border-inline-start: 0.2rem solid var(--line);
    color: var(--quiet);
  }
  hr {
    margin: 1.5rem 0;
    border: 0;
    border-top: 1px solid var(--line);
  }
  code {
    padding: 0.1em 0.3em;
    border-radius: 0.25rem;
    background: var(--code);
    font-size: 0.875em;
  }
  .prompt code,
  .prompt pre {
    background: var(--card);
  }
  pre {
    margin: 0 0 0.85rem;
    padding: 0.7rem 0.85rem;
    border-radius: 0.4rem;
    background: var(--code);
    font-size: 0.8125rem;
    line-height: 1.5;
    overflow-x: auto;
    overflow-wrap: normal;
    tab-size: 4;
    white-space: pre;
  }
  pre code {
    padding: 0;
    background: none;
    font-size: inherit;
  }
  .terminal {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  pre:focus-visible,
  summary:focus-visible,
  .scroll:focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .scroll {
    margin: 0 0 0.85rem;
    overflow-x: auto;
  }
  table {
    border-collapse: collapse;
    font-size: 0.9rem;
    overflow-wrap: normal;
  }
  th,
  td {
    padding: 0.35rem 0.65rem;
    border: 1px solid var(--line);
    text-align: start;
    vertical-align: top;
  }
  th {
    background: var(--code);
    font-weight: 600;
  }
  .link {
    text-decoration: underline;
    text-decoration-color: var(--line);
    text-underline-offset: 0.15em;
  }
  .address {
    color: var(--quiet);
    font-size: 0.85em;
  }
`
