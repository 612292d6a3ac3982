import { css } from '../markup.ts'

/** Calls of tools: a ledger, one line each until it is opened. */
export const tools = css`
  @layer pages {
    .tools {
      overflow: clip;
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--sheet);
    }
    .tools > .tool + .tool {
      border-block-start: 1px solid var(--line);
    }
    .tool > summary,
    .run > summary {
      display: grid;
      grid-template-columns: 1rem auto minmax(0, 1fr) auto 0.875rem;
      gap: var(--s2);
      align-items: center;
      min-block-size: 2.25rem;
      padding: 0.3rem var(--s3);
      font-size: var(--t2);
    }
    /* quiet calls of several messages: the line stands in the column of the messages, the messages below it */
    .run {
      position: relative;
      padding-block-end: var(--s4);
    }
    .run::before {
      position: absolute;
      inset-block: 0;
      inset-inline-start: var(--margin);
      border-inline-start: 1px solid var(--line);
      content: '';
    }
    .run > summary {
      grid-template-columns: auto minmax(0, 1fr) 0.875rem;
      margin-inline-start: calc(var(--margin) + var(--s5) + 1px);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--sheet);
      color: var(--soft);
    }
    .run[open] > summary {
      margin-block-end: var(--s2);
    }
    .run > .msg:last-child > .in {
      padding-block-end: 0;
    }
    /* calls of messages that follow each other are one box */
    .msg.ends-in-calls:has(+ .msg.calls) > .in {
      padding-block-end: 0;
    }
    .msg.ends-in-calls:has(+ .msg.calls) > .in > .tools:last-of-type {
      border-end-start-radius: 0;
      border-end-end-radius: 0;
    }
    .msg.ends-in-calls + .msg.calls > .in > .tools {
      border-block-start: 0;
      border-start-start-radius: 0;
      border-start-end-radius: 0;
    }
    .run > summary > b {
      color: var(--text);
      font-weight: 600;
    }
    :is(.tool, .run) > summary:hover {
      background: var(--hover);
    }
    :is(.tool, .run) > summary:focus-visible {
      outline-offset: -2px;
    }
    .tool > summary > svg.i:first-child {
      color: var(--faint);
    }
    .tool > summary > b {
      font-weight: 600;
    }
    .tool > summary > .what {
      overflow: hidden;
      color: var(--soft);
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    .tool > summary > .what code {
      color: var(--text);
      font-size: 0.95em;
    }
    .tool > summary > .got {
      display: flex;
      gap: 0.6rem;
      align-items: center;
      color: var(--faint);
      font-size: var(--t1);
      font-variant-numeric: tabular-nums;
      white-space: nowrap;
    }
    .tool.failed {
      box-shadow: inset 3px 0 0 var(--bad);
    }
    .tool.failed > summary > svg.i:first-child {
      color: var(--bad);
    }
    .tool > :not(summary) {
      border-block-start: 1px solid var(--line);
      background: var(--well);
    }
    .tool > .diff {
      background: var(--sheet);
    }
    .tool > pre {
      padding: var(--s3) var(--s4);
    }
    .tool > .in-cmd {
      background: var(--sheet);
      white-space: pre-wrap;
    }
    .tool > .in-cmd::before {
      color: var(--faint);
      content: '$ ';
    }
    .tool > .say {
      padding: var(--s2) var(--s4);
      color: var(--soft);
      font-size: var(--t2);
    }
    .tool > .out {
      overflow-wrap: anywhere;
      white-space: pre-wrap;
    }
    .tool > .prose {
      max-inline-size: none;
      padding: var(--s3) var(--s4);
      font-size: var(--t3);
      line-height: 1.6;
    }
    .tool > .fold {
      display: flex;
      gap: var(--s3);
      align-items: center;
      min-block-size: 2.25rem;
      padding: var(--s1) var(--s4);
      background: var(--sheet);
      color: var(--faint);
      font-size: var(--t2);
    }
    .tool > .facts {
      padding: var(--s3) var(--s4);
    }
    .facts pre {
      overflow-wrap: anywhere;
      white-space: pre-wrap;
    }
    .todo {
      display: grid;
      gap: 0.3rem;
      padding: var(--s3) var(--s4);
    }
    .todo li {
      display: grid;
      grid-template-columns: 1rem minmax(0, 1fr);
      gap: var(--s2);
      align-items: start;
      color: var(--soft);
      font-size: var(--t3);
    }
    .todo svg {
      margin-block-start: 0.2rem;
    }
    .todo .done {
      color: var(--faint);
      text-decoration: line-through;
    }
    .todo .done svg {
      color: var(--ok);
    }
    .todo .doing {
      color: var(--text);
      font-weight: 550;
    }
    .todo .doing svg {
      color: var(--ink);
    }
    .sub-card > summary {
      box-shadow: inset 3px 0 0 var(--edge);
    }
    .sub-card > .go {
      display: flex;
      gap: var(--s3);
      align-items: center;
      padding: var(--s2) var(--s4);
      background: var(--sheet);
      color: var(--soft);
      font-size: var(--t2);
    }
  }
`
