import { css } from '../markup.ts'

/** The page of a session: its head, the outline beside it, and the dock below it on narrow screens. */
export const trace = css`
  @layer pages {
    .trace {
      display: grid;
      grid-template-areas: 'outline main';
      grid-template-columns: 17rem minmax(0, 1fr);
      align-items: start;
      max-inline-size: 78rem;
      margin-inline: auto;
      padding-inline: var(--s5);
    }
    .trace > main {
      grid-area: main;
      min-inline-size: 0;
      max-inline-size: 60rem;
      padding: var(--s5) 0 var(--s7) var(--s6);
    }
    .trace.alone {
      display: block;
      max-inline-size: 60rem;
    }
    .trace.alone > main {
      padding-inline: 0;
    }
    .crumbs {
      display: flex;
      flex-wrap: wrap;
      gap: 0.4em;
      margin-block-end: var(--s2);
      color: var(--faint);
      font-size: var(--t2);
    }
    .crumbs a {
      color: var(--soft);
      text-decoration: none;
    }
    .crumbs a:hover {
      text-decoration: underline;
    }
    .head h1 {
      max-inline-size: 52rem;
    }
    .head h1.long {
      overflow-y: auto;
      max-block-size: 9.5lh; /* half a line shows that there are more */
      font-size: var(--t4);
      font-weight: 500;
      letter-spacing: 0;
      text-wrap: pretty;
    }
    .head .meta {
      gap: 0.35rem 1.1rem;
      margin-block-start: var(--s3);
      font-size: var(--t3);
    }
    .head .meta b {
      color: var(--text);
      font-weight: 550;
    }
    .head .meta .bad b {
      color: inherit;
    }
    .head .sum {
      max-inline-size: 44rem;
      margin-block-start: var(--s3);
      color: var(--soft);
    }
    .head .acts {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2);
      align-items: center;
      margin-block-start: var(--s4);
    }
    .head .tabs {
      margin-block-start: var(--s4);
    }
    .more > summary {
      display: inline-flex;
      gap: 0.3rem;
      align-items: center;
      min-block-size: var(--tap);
      border-radius: var(--r1);
      color: var(--soft);
      font-size: var(--t2);
    }
    .more > summary:hover {
      color: var(--text);
    }
    .acts > .more[open] {
      flex-basis: 100%;
    }
    .more > .facts {
      padding-block: var(--s3) var(--s2);
    }
    /* whether it is open: there are very many, and an icon takes several elements */
    :is(.tool, .run, .think, .context, .more) > summary::after,
    .file > summary::before {
      box-sizing: border-box;
      flex: none;
      inline-size: 0.35rem;
      block-size: 0.35rem;
      margin-inline: 0.15rem 0.375rem;
      border: solid var(--faint);
      border-width: 1.5px 1.5px 0 0;
      rotate: 45deg;
      transition: rotate 0.12s;
      content: '';
    }
    :is(.tool, .run, .think, .context, .more)[open] > summary::after,
    .file[open] > summary::before {
      translate: 0.05rem -0.1rem;
      rotate: 135deg;
    }
    @media (prefers-reduced-motion: reduce) {
      summary::after,
      summary::before {
        transition: none;
      }
    }
    .outline {
      position: sticky;
      inset-block-start: var(--bar);
      grid-area: outline;
      block-size: calc(100vh - var(--bar));
      padding: var(--s5) var(--s4) var(--s5) 0;
      overflow-y: auto;
      border-inline-end: 1px solid var(--line);
      font-size: var(--t2);
      scrollbar-width: thin;
    }
    .outline[popover] {
      display: block;
      inset-inline: auto;
      inline-size: auto;
      max-block-size: none;
      margin: 0;
      border-width: 0;
      border-inline-end: 1px solid var(--line);
      border-radius: 0;
      background: none;
      box-shadow: none;
      color: inherit;
    }
    .outline h2 {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 2rem;
      margin-block-end: var(--s3);
      font-size: var(--t2);
      letter-spacing: 0;
    }
    .outline h2 .btn {
      display: none;
    }
    .outline ol:empty::after {
      content: 'No prompts';
      color: var(--faint);
      font-size: var(--t2);
    }
    /* of very many prompts only those near view are laid out */
    @media screen {
      .outline ol > li {
        content-visibility: auto;
        contain-intrinsic-block-size: auto 4.5rem;
        overflow-clip-margin: var(--s1);
      }
    }
    .outline ol > li > a {
      display: grid;
      grid-template-columns: 1.4rem minmax(0, 1fr);
      gap: 0.15rem 0;
      padding: var(--s2) var(--s2) var(--s2) var(--s1);
      border-inline-start: 2px solid transparent;
      border-radius: var(--r1);
      color: var(--soft);
      text-decoration: none;
    }
    .outline ol > li > a:hover {
      background: var(--hover);
      color: var(--text);
    }
    .outline ol > li > a[aria-current] {
      border-color: var(--ink);
      border-start-start-radius: 0;
      border-end-start-radius: 0;
      background: var(--ink-tint);
      color: var(--text);
    }
    .outline ol > li {
      position: relative;
    }
    .outline .go-on {
      position: absolute;
      inset-block-start: 0;
      inset-inline-end: 0;
      justify-content: center;
      min-inline-size: 1.75rem;
      min-block-size: 1.75rem;
      border-radius: var(--r1);
      background: var(--sheet);
    }
    .outline .no {
      color: var(--ink);
      font: 600 var(--t1) / 1.25rem var(--mono);
      text-align: center;
    }
    .outline .q {
      display: -webkit-box;
      overflow: hidden;
      line-height: 1.25rem;
      -webkit-box-orient: vertical;
      -webkit-line-clamp: 2;
    }
    .outline .strip {
      grid-column: 2;
      block-size: 0.875rem;
      margin-block-start: 0.2rem;
    }
    .outline .did {
      display: flex;
      flex-wrap: wrap;
      grid-column: 2;
      gap: 0 0.6rem;
      color: var(--faint);
      font-size: var(--t1);
    }
    .outline .did > .bad {
      color: var(--bad);
    }
    .outline .sub {
      margin-block-end: var(--s1);
      margin-inline-start: 1.7rem;
    }
    .outline .sub a {
      display: flex;
      gap: 0.35rem;
      align-items: center;
      min-block-size: 1.5rem;
      padding: 0.15rem var(--s2);
      border-radius: var(--r1);
      color: var(--soft);
      font-size: var(--t1);
      text-decoration: none;
    }
    .outline .sub a > span {
      min-inline-size: 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    .outline .sub a:hover {
      background: var(--hover);
    }
    .outline .sub .bad {
      color: var(--bad);
    }
    .outline .sub svg.i {
      inline-size: 0.75rem;
      block-size: 0.75rem;
    }
    .outline hr {
      margin-block: var(--s4);
    }
    .files {
      font-size: var(--t2);
    }
    .files > :is(a, span) {
      display: flex;
      gap: var(--s2);
      align-items: center;
      min-block-size: 2rem;
      padding: 0.2rem var(--s2);
      border-radius: var(--r1);
      color: var(--text);
      text-decoration: none;
    }
    .files a:hover {
      background: var(--hover);
    }
    .files a[aria-current] {
      background: var(--ink-tint);
    }
    .files code {
      flex: 1;
      min-inline-size: 0;
      line-height: 1.35;
    }
    .files small {
      display: block;
      color: var(--faint);
    }
    .dock {
      display: none;
    }
    .tail {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s3);
      align-items: center;
      padding-block: var(--s2);
      color: var(--soft);
      font-size: var(--t2);
    }
    .turn {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2) var(--s4);
      align-items: center;
      padding-block: var(--s3);
      color: var(--soft);
      font-size: var(--t2);
    }
    :is(.turn, .tail) a {
      display: inline-flex;
      align-items: center;
      min-block-size: var(--tap);
    }
    .pill {
      position: fixed;
      inset-block-end: var(--s5);
      inset-inline: 0;
      z-index: 4;
      inline-size: max-content;
      margin-inline: auto;
      padding-inline: var(--s4);
      border-radius: 99px;
      box-shadow: var(--float);
    }
  }
`
