import { css } from './safe.ts'

/** The style of a page. Colours have a contrast of at least 4.5 in both schemes; no address stands in it. */
export const style = css`
  :root {
    color-scheme: light dark;
    --page: #fbfbfa;
    --text: #1c2128;
    --quiet: #596069;
    --line: #dcdfe3;
    --card: #ffffff;
    --tint: #eef3fb;
    --accent: #2457b3;
    --code: #f4f5f6;
    --bad: #a8201a;
    --bad-tint: #fdeeec;
    --added: #e2f5e6;
    --added-text: #14512a;
    --removed: #fde8e6;
    --removed-text: #862018;
    --red: #a8201a;
    --green: #14612e;
    --yellow: #705200;
    --blue: #0b4fa8;
    --magenta: #7a2f9e;
    --cyan: #0a5f6b;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --page: #14171b;
      --text: #e4e7eb;
      --quiet: #a0a8b2;
      --line: #343a42;
      --card: #1b1f24;
      --tint: #1c2635;
      --accent: #8ab4f8;
      --code: #1d2127;
      --bad: #ff8f85;
      --bad-tint: #35201f;
      --added: #16321f;
      --added-text: #a5e5b6;
      --removed: #3b1f1f;
      --removed-text: #ffb3ab;
      --red: #ff8f85;
      --green: #7fdc97;
      --yellow: #e2bd5a;
      --blue: #8ab4f8;
      --magenta: #d7a5f0;
      --cyan: #73d7e2;
    }
  }
  * {
    box-sizing: border-box;
  }
  html {
    -webkit-text-size-adjust: 100%;
    text-size-adjust: 100%;
  }
  body {
    margin: 0 auto;
    max-width: 52rem;
    padding: 2.5rem 1.25rem 5rem;
    background: var(--page);
    color: var(--text);
    font:
      1rem/1.6 system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      'Noto Sans',
      sans-serif;
    overflow-wrap: anywhere;
  }
  code,
  pre,
  .tool b {
    font-family: ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  }
  h1 {
    margin: 0.1rem 0 1.1rem;
    font-size: clamp(1.5rem, 1.1rem + 2vw, 2.1rem);
    line-height: 1.2;
    letter-spacing: -0.015em;
    text-wrap: balance;
  }
  .kind {
    margin: 0;
    color: var(--quiet);
    font-size: 0.8rem;
    letter-spacing: 0.06em;
    text-transform: uppercase;
  }
  header {
    padding-bottom: 1.75rem;
    margin-bottom: 1.75rem;
    border-bottom: 1px solid var(--line);
  }
  .facts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr));
    gap: 0.55rem 1.5rem;
    margin: 0;
    font-size: 0.875rem;
  }
  .facts div {
    min-width: 0;
  }
  .facts dt {
    color: var(--quiet);
    font-size: 0.75rem;
  }
  .facts dd {
    margin: 0;
  }
  article {
    margin: 0 0 1.75rem;
  }
  h2,
  h3 {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.6rem;
    align-items: baseline;
    margin: 0 0 0.6rem;
    font-size: 0.85rem;
    line-height: 1.5;
  }
  h2 {
    color: var(--accent);
  }
  h3 span,
  time {
    color: var(--quiet);
    font-size: 0.78rem;
    font-weight: 400;
    font-variant-numeric: tabular-nums;
  }
  time {
    margin-left: auto;
  }
  .prompt {
    margin-top: 2.5rem;
    padding: 0.9rem 1.15rem 1.05rem;
    border-left: 0.25rem solid var(--accent);
    border-radius: 0.6rem;
    background: var(--tint);
  }
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
  .hljs-comment,
  .hljs-quote,
  .hljs-meta,
  .hljs-doctag {
    color: var(--quiet);
  }
  .hljs-keyword,
  .hljs-selector-tag,
  .hljs-literal,
  .hljs-operator,
  .hljs-deletion {
    color: var(--red);
  }
  .hljs-string,
  .hljs-regexp,
  .hljs-char,
  .hljs-addition,
  .hljs-link {
    color: var(--blue);
  }
  .hljs-number,
  .hljs-symbol,
  .hljs-bullet,
  .hljs-variable,
  .hljs-template-variable,
  .hljs-attr,
  .hljs-attribute,
  .hljs-property {
    color: var(--cyan);
  }
  .hljs-title,
  .hljs-section,
  .hljs-name,
  .hljs-tag,
  .hljs-selector-id,
  .hljs-selector-class {
    color: var(--magenta);
  }
  .hljs-type,
  .hljs-built_in,
  .hljs-class {
    color: var(--yellow);
  }
  .hljs-emphasis {
    font-style: italic;
  }
  .hljs-strong {
    font-weight: 700;
  }
  .ansi-red,
  .ansi-bright-red {
    color: var(--red);
  }
  .ansi-green,
  .ansi-bright-green {
    color: var(--green);
  }
  .ansi-yellow,
  .ansi-bright-yellow {
    color: var(--yellow);
  }
  .ansi-blue,
  .ansi-bright-blue {
    color: var(--blue);
  }
  .ansi-magenta,
  .ansi-bright-magenta {
    color: var(--magenta);
  }
  .ansi-cyan,
  .ansi-bright-cyan {
    color: var(--cyan);
  }
  .ansi-bright-black,
  .ansi-dim {
    color: var(--quiet);
  }
  .ansi-bold {
    font-weight: 700;
  }
  .ansi-italic {
    font-style: italic;
  }
  .ansi-underline {
    text-decoration: underline;
  }
  .ansi-strikethrough {
    text-decoration: line-through;
  }
  @media (max-width: 34rem) {
    body {
      padding: 1.25rem 0.9rem 3rem;
    }
    .facts {
      grid-template-columns: 1fr 1fr;
    }
    .fields {
      grid-template-columns: minmax(0, 1fr);
    }
    .fields dd {
      padding-bottom: 0.5rem;
    }
    time {
      margin-left: 0;
    }
  }
  @media print {
    :root {
      --page: #fff;
      --text: #000;
      --quiet: #444;
      --line: #bbb;
      --card: #fff;
      --tint: #f2f4f8;
      --accent: #1b4796;
      --code: #f6f6f6;
      --bad: #8f1a15;
      --bad-tint: #fbeeee;
      --added: #e8f5ea;
      --added-text: #0f4021;
      --removed: #fbe9e8;
      --removed-text: #6e1a14;
      --red: #8f1a15;
      --green: #0f4d24;
      --yellow: #5a4200;
      --blue: #093f86;
      --magenta: #5f247b;
      --cyan: #084a54;
    }
    * {
      -webkit-print-color-adjust: exact;
      print-color-adjust: exact;
    }
    body {
      max-width: none;
      padding: 0;
      font-size: 10pt;
    }
    pre,
    .diff ins,
    .diff del,
    .diff span {
      width: auto;
      white-space: pre-wrap;
      overflow-wrap: anywhere;
    }
    h2,
    h3,
    .tool,
    summary {
      break-after: avoid;
    }
    .call {
      overflow: visible;
    }
    details::details-content {
      content-visibility: visible;
      block-size: auto;
    }
  }
`
