import { css } from '../markup.ts'

/** Messages: the time in the margin, one rule down the page, prompts in ink, answers on paper. */
export const messages = css`
  @layer pages {
    .msgs {
      margin-block-start: var(--s5);
    }
    /* what is far from view is laid out when it comes near; of tall boxes on narrow screens a part stands out at the sides */
    @media screen {
      .msgs:not(.virtual) > :is(.msg, .run) {
        content-visibility: auto;
        contain-intrinsic-block-size: auto 14rem;
        overflow-clip-margin: var(--s5);
      }
    }
    .msg {
      position: relative;
      display: grid;
      grid-template-columns: var(--margin) minmax(0, 1fr);
    }
    .msg > .at {
      align-self: start;
      padding-block: 0.1rem;
      color: var(--faint);
      font: var(--t1) / 1.625rem var(--mono);
      text-decoration: none;
    }
    .msg > .at small {
      display: block;
      margin-block-start: -0.4rem;
    }
    .msg.same:not(.here) > .at {
      opacity: 0;
    }
    .msg.same:hover > .at,
    .msg.same > .at:focus-visible {
      opacity: 1;
    }
    a.at:hover {
      color: var(--ink);
      text-decoration: underline;
    }
    .msg > .in {
      display: grid;
      grid-column: 2;
      grid-template-columns: minmax(0, 1fr);
      gap: var(--s3);
      min-inline-size: 0;
      padding: 0 0 var(--s4) var(--s5);
      border-inline-start: 1px solid var(--line);
    }
    .msg:target > .in,
    .msg.here > .in {
      box-shadow: -3px 0 0 var(--ink);
    }
    .msg.prompt {
      scroll-margin-block-start: calc(var(--bar) + var(--s4));
    }
    .msg.prompt > .at {
      padding-block-start: 1.7rem;
    }
    .msg.prompt > .in {
      padding-block: var(--s4) var(--s5);
    }
    .msg.prompt::before {
      position: absolute;
      z-index: 1;
      box-sizing: border-box;
      inset-block-start: 1.8rem;
      inset-inline-start: calc(var(--margin) - 0.69rem);
      min-inline-size: 1.375rem;
      block-size: 1.375rem;
      padding-inline: 0.25rem;
      border-radius: 99px;
      background: var(--ink);
      box-shadow: 0 0 0 3px var(--paper);
      color: var(--on-ink);
      font: 650 0.6875rem/1.375rem var(--mono);
      text-align: center;
      content: attr(data-no);
    }
    .ask {
      padding: 0.65rem var(--s4) var(--s3);
      border-radius: var(--r2);
      background: var(--ink-tint);
    }
    .ask > header h2 {
      font-size: inherit;
      letter-spacing: 0;
    }
    .ask > header {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 1.5rem;
      color: var(--ink-strong);
      font-size: var(--t2);
      font-weight: 600;
    }
    .go-on {
      display: inline-flex;
      gap: 0.3rem;
      align-items: center;
      min-block-size: 1.5rem;
      color: var(--soft);
      font-weight: 400;
      text-decoration: none;
    }
    .go-on:hover {
      color: var(--text);
    }
    @media (hover: hover) {
      :is(.msg, .outline li):not(:hover, :focus-within) .go-on {
        opacity: 0;
      }
    }
    .ask > .prose {
      margin-block-start: var(--s1);
    }
    .from {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 1.625rem;
      color: var(--soft);
      font-size: var(--t2);
    }
    .from b {
      color: var(--text);
      font-weight: 600;
    }
    .prose {
      display: grid;
      grid-template-columns: minmax(0, 1fr);
      gap: var(--s3);
      max-inline-size: 44rem;
      font-size: var(--t4);
      line-height: 1.625;
    }
    .prose > * {
      min-inline-size: 0;
    }
    .prose :is(h3, h4, h5, h6) {
      margin-block-start: var(--s2);
      font-size: 1.0625rem;
      font-weight: 620;
      line-height: 1.35;
    }
    .prose :is(h5, h6) {
      font-size: var(--t4);
    }
    .prose :is(ul, ol) {
      display: grid;
      grid-template-columns: minmax(0, 1fr);
      gap: var(--s1);
      padding-inline-start: 1.4rem;
    }
    .prose ul {
      list-style: disc;
    }
    .prose ol {
      padding-inline-start: 1.7rem;
      list-style: decimal;
    }
    .prose :is(li, td, th) {
      unicode-bidi: plaintext;
    }
    .prose .box {
      list-style: none;
    }
    .prose .box > svg:first-child {
      margin-inline: -1.4rem 0.4rem;
      color: var(--faint);
    }
    .prose .done > svg:first-child {
      color: var(--ok);
    }
    .prose li::marker {
      color: var(--faint);
    }
    .prose li > * + :is(p, pre, ul, ol),
    .prose li > :is(pre, ul, ol) {
      margin-block-start: var(--s2);
    }
    .prose :not(pre) > code {
      padding: 0.08em 0.3em;
      border: 1px solid var(--line);
      border-radius: var(--r1);
      background: var(--well);
      font-size: 0.86em;
    }
    .prose pre {
      padding: var(--s3) var(--s4);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
    }
    .ask .prose :is(pre, :not(pre) > code) {
      border-color: var(--ink-line);
      background: var(--sheet);
    }
    .prose blockquote {
      display: grid;
      grid-template-columns: minmax(0, 1fr);
      gap: var(--s3);
      padding-inline-start: var(--s4);
      border-inline-start: 3px solid var(--line);
      color: var(--soft);
    }
    .prose .scroll {
      overflow-x: auto;
    }
    .prose table {
      inline-size: auto;
      max-inline-size: none;
      font-size: var(--t3);
      overflow-wrap: normal;
    }
    .prose :is(td, th) {
      padding: var(--s1) var(--s3);
      border: 1px solid var(--line);
      text-align: start;
      vertical-align: top;
    }
    .prose hr {
      inline-size: 100%;
      margin-block: var(--s2);
    }
    .plain {
      white-space: pre-wrap;
      unicode-bidi: plaintext;
    }
    .link {
      text-decoration: underline 1px var(--line);
      text-underline-offset: 0.18em;
    }
    .address {
      color: var(--soft);
      font-size: 0.875em;
    }
    .think > summary,
    .context > summary {
      display: inline-flex;
      gap: 0.4rem;
      align-items: center;
      min-block-size: 1.625rem;
      border-radius: var(--r1);
      color: var(--soft);
      font-size: var(--t2);
    }
    :is(.think, .context) > summary:hover {
      color: var(--text);
    }
    :is(.think, .context) > .prose {
      margin-block: var(--s2);
      padding-inline-start: var(--s4);
      border-inline-start: 2px dotted var(--edge);
      color: var(--soft);
      font-size: var(--t3);
      line-height: 1.6;
    }
    /* what is no more, what was taken out, what is invisible */
    .redacted {
      display: inline-block;
      padding-inline: 0.45em;
      border: 1px solid var(--edge);
      border-radius: var(--r1);
      background: repeating-linear-gradient(-45deg, var(--line) 0 3px, var(--sheet) 3px 7px);
      color: var(--text);
      font: 500 0.75rem/1.45 var(--sans);
      white-space: nowrap;
    }
    .gone {
      display: flex;
      gap: var(--s3);
      align-items: center;
      padding: var(--s3) var(--s4);
      border: 1px dashed var(--edge);
      border-radius: var(--r2);
      color: var(--soft);
      font-size: var(--t2);
    }
  }
`
