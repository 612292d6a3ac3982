import { css } from '../markup.ts'

/** What pages and transcripts share: controls, tags, lines of facts, strips, notes, menus. */
export const parts = css`
  @layer parts {
    .btn {
      display: inline-flex;
      gap: 0.4rem;
      align-items: center;
      justify-content: center;
      min-block-size: var(--tap);
      padding: 0.2rem 0.7rem;
      border: 1px solid var(--line);
      border-radius: var(--r1);
      background: var(--sheet);
      color: var(--text);
      font-weight: 500;
      text-decoration: none;
      white-space: nowrap;
      cursor: pointer;
    }
    .btn:hover {
      background: var(--hover);
    }
    .btn svg {
      color: var(--soft);
    }
    .btn.main {
      border-color: var(--ink);
      background: var(--ink);
      color: var(--on-ink);
    }
    .btn.main svg {
      color: inherit;
    }
    .btn.main:hover {
      background: var(--ink-strong);
    }
    .btn.risk {
      color: var(--bad);
    }
    .btn.bare {
      padding-inline: 0.45rem;
      border-color: transparent;
      background: none;
    }
    .btn.bare:hover {
      background: var(--hover);
    }
    .btn:is([disabled], [aria-disabled='true']) {
      border-color: var(--line);
      background: var(--well);
      color: var(--faint);
      cursor: not-allowed;
    }
    .row {
      display: flex;
      flex-wrap: wrap;
      gap: var(--s2);
      align-items: center;
    }
    .push {
      margin-inline-start: auto;
    }
    .seg {
      display: inline-flex;
      padding: 2px;
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
    }
    .seg a {
      display: inline-flex;
      gap: 0.4rem;
      align-items: center;
      min-block-size: 1.75rem;
      padding-inline: var(--s3);
      border-radius: 6px;
      color: var(--soft);
      font-size: var(--t2);
      text-decoration: none;
      white-space: nowrap;
    }
    .seg a[aria-current] {
      background: var(--sheet);
      box-shadow: 0 0 0 1px var(--line);
      color: var(--text);
      font-weight: 550;
    }
    .tabs {
      display: flex;
      gap: var(--s5);
      align-items: center;
      border-block-end: 1px solid var(--line);
    }
    .tabs > a {
      display: inline-flex;
      gap: 0.4rem;
      align-items: center;
      min-block-size: 2.5rem;
      margin-block-end: -1px;
      border-block-end: 2px solid transparent;
      color: var(--soft);
      text-decoration: none;
    }
    .tabs > a:hover {
      color: var(--text);
    }
    .tabs > a[aria-current] {
      border-color: var(--ink);
      color: var(--text);
      font-weight: 550;
    }
    :is(.tabs, .seg) .num {
      color: var(--faint);
      font-size: var(--t1);
      font-weight: 400;
    }
    .tag {
      display: inline-flex;
      gap: 0.3em;
      align-items: center;
      padding-inline: 0.45em;
      border-radius: var(--r1);
      background: var(--hover);
      color: var(--soft);
      font-size: var(--t1);
      font-weight: 550;
      line-height: 1.6;
      white-space: nowrap;
    }
    .tag.ok {
      background: var(--ok-tint);
      color: var(--ok);
    }
    .tag.bad {
      background: var(--bad-tint);
      color: var(--bad);
    }
    .tag.warn {
      background: var(--warn-tint);
      color: var(--warn);
    }
    .tag.ink {
      background: var(--ink-tint);
      color: var(--ink-strong);
    }
    .tag svg {
      inline-size: 0.75rem;
      block-size: 0.75rem;
    }
    .who {
      display: inline-grid;
      flex: none;
      place-items: center;
      inline-size: 1.5rem;
      block-size: 1.5rem;
      border: 1px solid var(--line);
      border-radius: 50%;
      background: var(--hover);
      color: var(--soft);
      font-size: 0.6875rem;
      font-weight: 600;
      text-decoration: none;
    }
    .who.me {
      border-color: var(--ink-line);
      background: var(--ink-tint);
      color: var(--ink-strong);
    }
    .live {
      display: inline-flex;
      gap: 0.4em;
      align-items: center;
      color: var(--ok);
      font-weight: 550;
      white-space: nowrap;
    }
    .live::before {
      inline-size: 0.5rem;
      block-size: 0.5rem;
      border-radius: 50%;
      background: currentColor;
      animation: breathe 2.4s ease-in-out infinite;
      content: '';
    }
    @keyframes breathe {
      50% {
        opacity: 0.35;
      }
    }
    @media (prefers-reduced-motion: reduce) {
      .live::before {
        animation: none;
      }
    }
    .meta {
      display: flex;
      flex-wrap: wrap;
      gap: 0.1rem 0.9rem;
      align-items: center;
      margin-block-start: 0.2rem;
      color: var(--soft);
      font-size: var(--t2);
    }
    .meta > * {
      display: inline-flex;
      gap: 0.35em;
      align-items: center;
      min-inline-size: 0;
    }
    .meta > .bad {
      color: var(--bad);
    }
    .meta > .live {
      color: var(--ok);
    }
    .meta svg.i {
      inline-size: 0.875rem;
      block-size: 0.875rem;
      color: var(--faint);
    }
    .meta code {
      font-size: 0.95em;
    }
    .meta a {
      color: inherit;
    }
    .facts {
      display: grid;
      grid-template-columns: max-content minmax(0, 1fr);
      gap: 0.3rem var(--s5);
      font-size: var(--t2);
    }
    .facts dt {
      max-inline-size: 14rem;
      color: var(--faint);
    }
    .note {
      display: flex;
      gap: var(--s3);
      padding: var(--s3) var(--s4);
      border: 1px solid var(--line);
      border-radius: var(--r2);
      background: var(--well);
      color: var(--soft);
    }
    .note svg {
      margin-block-start: 0.15rem;
    }
    .note .row {
      margin-block-start: var(--s2);
    }
    .note b {
      color: var(--text);
      font-weight: 600;
    }
    .note.bad {
      border-color: var(--bad-mark);
      background: var(--bad-tint);
      color: var(--text);
    }
    .note.bad svg {
      color: var(--bad);
    }
    .note.warn {
      border-color: transparent;
      background: var(--warn-tint);
      color: var(--text);
    }
    .note.warn svg {
      color: var(--warn);
    }
    /* ticks of a session: prompt, work, edit, failure */
    .strip {
      display: block;
      max-inline-size: 100%;
      block-size: 1.125rem;
      overflow: visible;
    }
    .strip .w {
      fill: var(--tick);
    }
    .strip .e {
      fill: var(--ok);
    }
    .strip .x {
      fill: var(--bad);
    }
    .strip .p {
      fill: var(--ink);
    }
    dialog,
    [popover] {
      padding: 0;
      border: 1px solid var(--line);
      border-radius: var(--r3);
      background: var(--sheet);
      box-shadow: var(--float);
      color: var(--text);
    }
    .menu {
      inset: auto;
      inline-size: min(23rem, calc(100vw - 2rem));
      padding: var(--s2);
    }
    .menu:not(:popover-open) {
      display: none;
    }
    @supports (position-area: bottom) {
      .menu {
        margin: var(--s1) 0;
        position-anchor: auto;
        position-area: block-end span-inline-end;
        position-try-fallbacks: flip-inline, flip-block;
      }
    }
    @supports not (position-area: bottom) {
      .menu {
        inset: 0;
        block-size: fit-content;
        margin: auto;
      }
    }
    .menu h2 {
      padding: var(--s1) var(--s2) var(--s2);
      font-size: var(--t2);
      letter-spacing: 0;
    }
    .menu p {
      padding: var(--s2);
      color: var(--soft);
      font-size: var(--t2);
    }
    .menu hr {
      margin-block: var(--s2);
    }
    .menu > :is(a, button):not(.main) {
      display: flex;
      gap: var(--s3);
      align-items: center;
      inline-size: 100%;
      min-block-size: max(2.25rem, var(--tap));
      padding-inline: var(--s2);
      border: 0;
      border-radius: var(--r1);
      background: none;
      color: var(--text);
      text-align: start;
      text-decoration: none;
      cursor: pointer;
    }
    .menu > :is(a, button):not(.main):hover {
      background: var(--hover);
    }
    .menu > .bad:not(.main) {
      color: var(--bad);
    }
    .menu > * > svg {
      color: var(--faint);
    }
  }
`
