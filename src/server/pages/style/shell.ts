import { css } from '../../../transcript/html/markup.ts'

/** The bar at the top of every page, its foot, the column between them, and what many pages have in it: first steps, commands, empty lists. */
export const shell = css`
  @layer parts {
    .sprite {
      position: absolute;
    }
    .bar {
      position: sticky;
      inset-block-start: 0;
      z-index: 5;
      border-block-end: 1px solid var(--line);
      background: var(--paper);
    }
    .bar > div {
      display: flex;
      gap: var(--s4);
      align-items: center;
      block-size: var(--bar);
      padding-inline: var(--s5);
    }
    .bar nav {
      display: flex;
      gap: var(--s1);
      min-inline-size: 0;
      overflow-x: auto;
      scrollbar-width: none;
    }
    .bar nav a {
      display: inline-flex;
      flex: none;
      align-items: center;
      min-block-size: var(--tap);
      padding-inline: 0.6rem;
      border-radius: var(--r1);
      color: var(--soft);
      text-decoration: none;
      white-space: nowrap;
    }
    .bar nav a:hover {
      background: var(--hover);
      color: var(--text);
    }
    .bar nav a[aria-current] {
      color: var(--text);
      font-weight: 550;
    }
    .bar nav bdi {
      overflow: hidden;
      max-inline-size: 14rem;
      text-overflow: ellipsis;
    }
    .brand {
      display: inline-flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: var(--tap);
      color: var(--text);
      font-size: 1rem;
      font-weight: 650;
      letter-spacing: -0.02em;
      text-decoration: none;
    }
    .brand svg {
      inline-size: 1.375rem;
      block-size: 1.375rem;
    }
    .logo-page {
      fill: var(--ink);
    }
    .logo-mark {
      fill: none;
      stroke: var(--on-ink);
      stroke-width: 1.7;
      stroke-linecap: round;
    }
    .logo-dot {
      fill: var(--on-ink);
    }
    .who.big {
      inline-size: 3rem;
      block-size: 3rem;
      border-radius: var(--r2);
      font-size: 1.125rem;
      object-fit: cover;
    }
    .site {
      margin-block-start: auto;
      border-block-start: 1px solid var(--line);
      color: var(--soft);
      font-size: var(--t2);
    }
    .site > div {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2) var(--s5);
      align-items: center;
      max-inline-size: 72rem;
      margin-inline: auto;
      padding: var(--s4) var(--s5);
    }
    .site a {
      color: inherit;
    }
    .cmd {
      display: flex;
      gap: var(--s3);
      align-items: center;
      min-block-size: 2.375rem;
      padding: var(--s1) var(--s4);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
      font: var(--t2) / 1.6 var(--mono);
      font-variant-ligatures: none;
    }
    .cmd > code {
      flex: 1;
      min-inline-size: 0;
      font-size: inherit;
      overflow-wrap: anywhere;
      user-select: all;
    }
    .cmd:not([data-copies]) > code::before {
      content: '$ ';
      color: var(--faint);
    }
  }
  @layer pages {
    .page {
      inline-size: 100%;
      max-inline-size: 72rem;
      margin-inline: auto;
      padding: var(--s5) var(--s5) var(--s7);
    }
    .page.two {
      display: grid;
      grid-template-columns: minmax(0, 1fr) 15rem;
      gap: var(--s7);
    }
    .page.thin {
      max-inline-size: 46rem;
    }
    .page > main > p,
    .blank > p {
      max-inline-size: 40rem;
      color: var(--soft);
    }
    header.row + .tabs {
      margin-block: var(--s2) var(--s4);
    }
    .page > main > h1:not(.vh) {
      margin-block-end: var(--s4);
    }
    .aside {
      display: grid;
      gap: var(--s5);
      align-content: start;
      padding-block-start: var(--s2);
      color: var(--soft);
      font-size: var(--t2);
    }
    .aside h2 {
      margin-block-end: var(--s2);
      color: var(--text);
      font-size: var(--t2);
      letter-spacing: 0;
    }
    .aside li {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 1.9rem;
    }
    .aside li a {
      color: var(--text);
      text-decoration: none;
    }
    .aside li a:hover {
      text-decoration: underline;
    }
    .blank {
      display: grid;
      gap: var(--s4);
      max-inline-size: 34rem;
      margin: clamp(1.5rem, 10vh, 6rem) auto;
    }
    .blank > pre {
      padding: var(--s3) var(--s4);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
      font-size: var(--t5);
    }
    .blank .btn {
      text-align: start;
      white-space: normal;
    }
    .blank.left {
      margin: var(--s5) 0;
    }
    /* that a session has no messages yet, once a script has added one */
    .blank:has(+ .msgs > .msg) {
      display: none;
    }
    .hero {
      display: grid;
      grid-template-columns: minmax(0, 1.1fr) minmax(0, 1fr);
      gap: var(--s7);
      align-items: center;
      padding-block: var(--s6) var(--s7);
    }
    .hero h1 {
      font-size: clamp(1.75rem, 3.4vw, 2.375rem);
      line-height: 1.15;
      letter-spacing: -0.025em;
    }
    .hero p {
      max-inline-size: 34rem;
      margin-block-start: var(--s4);
      color: var(--soft);
      font-size: 1.0625rem;
      line-height: 1.6;
    }
    .steps {
      display: grid;
      gap: var(--s4);
      counter-reset: step;
    }
    .steps li {
      display: grid;
      grid-template-columns: 1.75rem minmax(0, 1fr);
      gap: var(--s1) var(--s2);
      counter-increment: step;
    }
    .steps li::before {
      content: counter(step);
      grid-row: span 3;
      color: var(--ink);
      font: 600 var(--t3) / 1.5 var(--mono);
    }
    .steps .cmd {
      grid-column: 2;
    }
  }
  @layer narrow {
    @media (width < 68.75em) {
      .page.two {
        grid-template-columns: minmax(0, 1fr);
        gap: var(--s5);
      }
      .hero {
        grid-template-columns: minmax(0, 1fr);
        gap: var(--s5);
        padding-block: var(--s4) var(--s5);
      }
    }
    @media (width < 45em) {
      .page,
      .bar > div,
      .site > div {
        padding-inline: var(--s4);
      }
      /* the tabs are a line above, which scrolls away */
      .bar {
        inset-block-start: calc(-1 * var(--tap));
      }
      .bar > div {
        flex-wrap: wrap;
        gap: 0 var(--s2);
        block-size: auto;
      }
      .bar nav {
        order: -1;
        flex: 1 1 100%;
      }
      .bar nav > :last-child {
        position: sticky; /* the way to help stays beside any number of namespaces */
        inset-inline-end: 0;
        margin-inline-start: auto;
        background: var(--paper);
      }
      .bar .word {
        display: none;
      }
      .bar .who {
        position: relative;
        inline-size: 2rem;
        block-size: 2rem;
      }
      /* 44 px for fingers, though the picture is smaller; and so below */
      .bar .who::after {
        content: '';
        position: absolute;
        inset: -0.4375rem;
      }
      .brand {
        min-inline-size: 2.75rem;
        min-block-size: var(--bar);
      }
      .aside li a,
      .site a {
        display: inline-flex;
        align-items: center;
        min-inline-size: 2.75rem;
        min-block-size: 2.75rem;
      }
    }
  }
  @layer print {
    @media print {
      .bar,
      .site,
      .skip {
        display: none !important;
      }
    }
  }
`
