import { css } from '../markup.ts'

/** The colours of code and of terminals. */
export const code = css`
  @layer pages {
    .hljs-keyword,
    .hljs-literal,
    .hljs-built_in,
    .hljs-type,
    .hljs-class,
    .hljs-selector-tag,
    .hljs-operator {
      color: var(--c-key);
    }
    .hljs-string,
    .hljs-regexp,
    .hljs-char,
    .hljs-link,
    .hljs-addition {
      color: var(--c-str);
    }
    .hljs-number,
    .hljs-attr,
    .hljs-attribute,
    .hljs-meta,
    .hljs-symbol,
    .hljs-bullet,
    .hljs-variable,
    .hljs-template-variable {
      color: var(--c-num);
    }
    .hljs-title,
    .hljs-name,
    .hljs-section,
    .hljs-function,
    .hljs-tag,
    .hljs-property,
    .hljs-selector-id,
    .hljs-selector-class {
      color: var(--c-name);
    }
    .hljs-comment,
    .hljs-quote,
    .hljs-doctag {
      color: var(--c-note);
    }
    .hljs-deletion {
      color: var(--bad);
    }
    .hljs-emphasis,
    .ansi-italic {
      font-style: italic;
    }
    .hljs-strong,
    .ansi-bold {
      font-weight: 650;
    }
    .ansi-red,
    .ansi-bright-red {
      color: var(--bad);
    }
    .ansi-green,
    .ansi-bright-green {
      color: var(--ok);
    }
    .ansi-yellow,
    .ansi-bright-yellow {
      color: var(--warn);
    }
    .ansi-blue,
    .ansi-bright-blue {
      color: var(--ink);
    }
    .ansi-magenta,
    .ansi-bright-magenta {
      color: var(--c-key);
    }
    .ansi-cyan,
    .ansi-bright-cyan {
      color: var(--c-cyan);
    }
    .ansi-bright-black,
    .ansi-dim {
      color: var(--faint);
    }
    .ansi-underline {
      text-decoration: underline;
    }
    .ansi-strikethrough {
      text-decoration: line-through;
    }
  }
`
