import { css } from '../markup.ts'

/** On paper: no controls, tools open, thinking closed, always light. */
export const print = css`
  @layer print {
    @media print {
      :root {
        color-scheme: light;
        --paper: #fff;
        --margin: 3.5rem;
      }
      .bar,
      .site,
      .skip,
      .dock,
      .pill,
      .outline[popover],
      .acts,
      .tabs,
      .btn,
      .fold a,
      .tail a,
      .turn,
      .go-on {
        display: none;
      }
      .head h1.long {
        max-block-size: none;
      }
      details > summary::before,
      details > summary::after {
        content: none;
      }
      .trace {
        display: block;
        padding: 0;
      }
      .trace > main {
        max-inline-size: none;
        padding: 0;
      }
      body {
        font-size: 9.5pt;
      }
      .prose {
        max-inline-size: none;
        font-size: 10.5pt;
      }
      pre,
      .diff {
        font-size: 8pt;
      }
      .tool pre,
      .prose pre {
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      details:not(.think)::details-content {
        block-size: auto;
        content-visibility: visible;
      }
      .ask,
      .tool > summary,
      .gone {
        break-inside: avoid;
      }
      .msg.prompt > .in,
      .from {
        break-after: avoid;
      }
      .ask,
      .diff :is(.add, .del) td,
      .msg.prompt::before {
        -webkit-print-color-adjust: exact;
        print-color-adjust: exact;
      }
      @page {
        margin: 16mm 14mm;
      }
    }
  }
`
