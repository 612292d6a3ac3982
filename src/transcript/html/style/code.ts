import { css } from '../markup.ts'

/** The colours of code and of terminals. */
export const code = css`
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
`
