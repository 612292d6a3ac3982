import { css } from '../../../transcript/html/markup.ts'

/** Forms, tables and keys. */
export const forms = css`
  @layer parts {
    .form {
      display: grid;
      gap: var(--s4);
      max-inline-size: 32rem;
    }
    :is(p, table) + .form {
      margin-block-start: var(--s5);
    }
    .seen > .facts + p {
      margin-block-start: var(--s4);
    }
    .form label:not(.pick) {
      display: grid;
      gap: var(--s1);
      font-weight: 550;
    }
    .form legend {
      padding: 0 0 var(--s2);
      font-weight: 550;
    }
    .form fieldset {
      display: grid;
      gap: var(--s2);
      min-inline-size: 0;
      margin: 0;
      padding: 0;
      border: 0;
    }
    .form .hint {
      color: var(--soft);
      font-size: var(--t2);
      font-weight: 400;
    }
    .form .wrong {
      display: flex;
      gap: 0.35em;
      align-items: center;
      color: var(--bad);
      font-size: var(--t2);
      font-weight: 400;
    }
    .field {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-inline-size: 0;
      min-block-size: max(2.125rem, var(--tap));
      padding-inline: 0.6rem;
      border: 1px solid var(--edge);
      border-radius: var(--r2);
      background: var(--sheet);
      color: var(--soft);
      font-weight: 400;
    }
    .field:focus-within {
      border-color: transparent;
      outline: 2px solid var(--ink);
      outline-offset: 0;
    }
    .field :is(input, textarea) {
      flex: 1;
      min-inline-size: 0;
      padding: 0;
      border: 0;
      outline: 0;
      background: none;
      color: var(--text);
    }
    .field textarea {
      margin-block: var(--s2);
    }
    ::placeholder {
      color: var(--faint);
      opacity: 1;
    }
    .pick {
      display: flex;
      gap: var(--s3);
      align-items: start;
      padding: var(--s3);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      font-weight: 400;
      cursor: pointer;
    }
    .pick:has(:checked) {
      border-color: var(--ink);
      background: var(--ink-tint);
    }
    .pick input {
      flex: none;
      inline-size: 1rem;
      block-size: 1rem;
      margin: 0.2rem 0 0;
      accent-color: var(--ink);
    }
    .pick b {
      display: block;
      font-weight: 550;
    }
    .grid th,
    .grid td {
      padding: 0.55rem var(--s3);
      border-block-end: 1px solid var(--line);
      vertical-align: middle;
    }
    .grid th {
      font-size: var(--t2);
    }
    .grid :is(th, td):first-child {
      padding-inline-start: 0;
    }
    .grid tbody tr:last-child > * {
      border-block-end: 0;
    }
    .grid .n {
      text-align: end;
      white-space: nowrap;
    }
    kbd {
      display: inline-block;
      min-inline-size: 1.4em;
      padding: 0 0.35em;
      border: 1px solid var(--line);
      border-block-end-width: 2px;
      border-radius: var(--r1);
      background: var(--sheet);
      color: var(--soft);
      font-size: var(--t1);
      line-height: 1.5;
      text-align: center;
    }
  }
  @layer narrow {
    @media (width < 45em) {
      .grid.stack,
      .grid.stack :is(tbody, td) {
        display: block;
      }
      .grid.stack thead {
        display: none;
      }
      .grid.stack tr {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 0 var(--s3);
        align-items: center;
        padding-block: var(--s2);
        border-block-end: 1px solid var(--line);
      }
      .grid.stack td {
        grid-column: 1;
        padding: 0.1rem 0;
        border: 0;
      }
      .grid.stack td[data-of]::before {
        content: attr(data-of) ' ';
        color: var(--faint);
      }
      .grid.stack td.n {
        grid-row: 1 / span 2;
        grid-column: 2;
      }
    }
  }
`
