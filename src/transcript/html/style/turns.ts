import { css } from '../markup.ts'

/** Thinking, context, calls with their results, differences, errors. */
export const turns = css`
  summary {
    padding: 0.3rem 0;
    color: var(--quiet);
    font-size: 0.85rem;
    cursor: pointer;
  }
  summary b {
    font-weight: 600;
  }
  summary span {
    margin-inline-start: 0.35rem;
  }
  .thinking {
    margin: 0 0 0.85rem;
    padding-inline-start: 0.9rem;
    border-inline-start: 0.15rem solid var(--line);
    color: var(--quiet);
    font-size: 0.93rem;
  }
  .thinking[open] summary {
    margin-bottom: 0.3rem;
  }
  .context {
    padding: 0.2rem 1rem;
    border: 1px dashed var(--line);
    border-radius: 0.5rem;
    font-size: 0.93rem;
  }
  .context details[open] {
    padding-bottom: 0.6rem;
  }
  .call {
    margin: 0 0 1rem;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    font-size: 0.9rem;
    overflow: hidden;
  }
  .tool {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.6rem;
    align-items: baseline;
    margin: 0;
    padding: 0.45rem 0.85rem;
  }
  .tool b {
    font-size: 0.82rem;
  }
  .tool span {
    min-width: 0;
    color: var(--quiet);
    font-size: 0.85rem;
  }
  .call pre {
    margin: 0;
    border-top: 1px solid var(--line);
    border-radius: 0;
  }
  .call .note {
    margin: 0;
    padding: 0.4rem 0.85rem;
    border-top: 1px solid var(--line);
  }
  .note {
    color: var(--quiet);
    font-size: 0.85rem;
    font-style: italic;
  }
  .result {
    border-top: 1px solid var(--line);
  }
  .result:first-child {
    border-top: 0;
  }
  .result summary {
    padding: 0.4rem 0.85rem;
  }
  .failed summary b {
    color: var(--bad);
  }
  .fields {
    display: grid;
    grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr);
    margin: 0;
    padding: 0.35rem 0.85rem;
    border-top: 1px solid var(--line);
    font-size: 0.82rem;
  }
  .fields dt {
    max-width: 14rem;
    padding: 0.2rem 1rem 0.2rem 0;
    color: var(--quiet);
  }
  .fields dd {
    min-width: 0;
    margin: 0;
    padding: 0.2rem 0;
  }
  .fields pre {
    padding: 0;
    border: 0;
    background: none;
    font-size: 0.8rem;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .diff {
    padding: 0.5rem 0;
  }
  .diff ins,
  .diff del,
  .diff span {
    display: block;
    width: max-content;
    min-width: 100%;
    padding: 0 0.85rem;
    text-decoration: none;
  }
  .diff ins {
    background: var(--added);
    color: var(--added-text);
  }
  .diff del {
    background: var(--removed);
    color: var(--removed-text);
  }
  .error {
    margin: 0 0 1rem;
    padding: 0.7rem 0.9rem;
    border-left: 0.25rem solid var(--bad);
    border-radius: 0.5rem;
    background: var(--bad-tint);
  }
  .error b {
    color: var(--bad);
    font-size: 0.85rem;
  }
  .error p {
    margin-bottom: 0.3rem;
  }
  article > :last-child,
  details > :last-child,
  .error > :last-child,
  li > :last-child,
  dd > :last-child,
  blockquote > :last-child {
    margin-bottom: 0;
  }
`
