import { css } from '../markup.ts'

/** The differences on a narrow screen and on paper. */
export const media = css`
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
