import { css } from '../markup.ts'

/** Below 1,100 px the outline is a sheet; below 720 px everything is in one column, with targets of 44 px. */
export const narrow = css`
  @layer narrow {
    @media (width < 68.75em) {
      .skip[href='#outline'] {
        display: none;
      }
      .trace {
        display: block;
      }
      .trace > main {
        margin-inline: auto;
        padding-inline-start: 0;
      }
      .outline[popover] {
        position: fixed;
        inset: auto 0 0;
        display: none;
        inline-size: 100%;
        max-inline-size: none;
        block-size: auto;
        max-block-size: 80vh;
        padding: var(--s3) var(--s4) var(--s6);
        border: 1px solid var(--line);
        border-radius: var(--r3) var(--r3) 0 0;
        background: var(--sheet);
        box-shadow: var(--float);
      }
      .outline[popover]:popover-open {
        display: block;
      }
      .outline::backdrop {
        background: var(--scrim);
      }
      .outline h2 .btn {
        display: inline-flex;
      }
      .trace > main {
        display: flex;
        flex-direction: column;
        min-block-size: calc(100dvh - var(--bar));
      }
      .dock {
        position: sticky;
        margin-block-start: auto;
        inset-block-end: 0;
        z-index: 4;
        display: flex;
        gap: var(--s2);
        align-items: center;
        margin-inline: calc(-1 * var(--s5));
        padding: var(--s1) var(--s4);
        padding-block-end: max(var(--s1), env(safe-area-inset-bottom));
        border-block-start: 1px solid var(--line);
        background: var(--paper);
        font-size: var(--t2);
      }
      .dock .btn:first-child {
        flex: 1;
        justify-content: start;
        min-inline-size: 0;
        overflow: hidden;
      }
      .pill {
        inset-block-end: 4.5rem;
      }
    }
    @media (width < 45em) {
      :root {
        --margin: 0rem;
        --tap: 2.75rem;
        --t6: 1.375rem;
      }
      .trace {
        padding-inline: var(--s4);
      }
      .trace > main {
        padding-block-start: var(--s4);
      }
      .dock {
        margin-inline: calc(-1 * var(--s4));
      }
      .wide-only {
        display: none;
      }
      .seg a,
      .tabs > a,
      .outline .sub a,
      .files > :is(a, span) {
        min-block-size: 2.75rem;
      }
      .btn.bare,
      .seg a,
      .tabs > a {
        justify-content: center;
        min-inline-size: 2.75rem;
      }
      .seg:not(.push) {
        display: flex;
        flex: 1 1 100%;
      }
      .seg a {
        flex: 1;
        padding-inline: var(--s2);
      }
      .tabs {
        gap: var(--s4);
        overflow-x: auto;
        scrollbar-width: none;
      }
      .tabs > * {
        flex: none;
      }
      .menu {
        position: fixed;
        inset: auto 0 0;
        inline-size: 100%;
        max-inline-size: none;
        margin: 0;
        padding: var(--s4) var(--s4) var(--s6);
        border-radius: var(--r3) var(--r3) 0 0;
        position-area: none;
      }
      .menu::backdrop {
        background: var(--scrim);
      }
      .head .meta {
        gap: 0.25rem 0.9rem;
        font-size: var(--t2);
      }
      .facts {
        grid-template-columns: minmax(0, 1fr);
        gap: 0;
      }
      .facts dd {
        margin-block-end: var(--s2);
      }
      .msgs {
        margin-block-start: var(--s2);
      }
      .msg {
        grid-template-columns: minmax(0, 1fr);
      }
      .msg > .in {
        grid-column: 1;
        padding-inline-start: 0;
        border: 0;
      }
      .msg > .at {
        justify-self: start;
        margin-block: -0.6rem;
        padding-inline-end: var(--s4);
        line-height: 2.75rem;
      }
      .msg.same:not(.prompt, .here) > .at {
        display: none;
      }
      .msg.same > .at {
        opacity: 1;
      }
      .msg.says > .at {
        position: absolute;
        inset-block-start: 0;
        inset-inline-end: 0;
        z-index: 1;
        padding-inline: var(--s4) 0;
      }
      .msg.prompt {
        margin-inline: calc(-1 * var(--s4));
      }
      .msg.prompt > .at {
        inset-inline-end: var(--s4);
        padding-block-start: 1.25rem;
      }
      .msg.prompt::before {
        inset-block-start: 1.7rem;
        inset-inline-start: var(--s4);
        box-shadow: none;
      }
      .ask {
        padding-inline: var(--s4);
        border-block: 1px solid var(--ink-line);
        border-radius: 0;
      }
      .ask > header {
        padding-inline-start: 2.125rem;
      }
      .from {
        padding-inline-end: 3.5rem;
      }
      .run::before {
        content: none;
      }
      .run > summary {
        margin-inline: calc(-1 * var(--s4));
        border-inline: 0;
        border-radius: 0;
      }
      .tools {
        margin-inline: calc(-1 * var(--s4));
        border-inline: 0;
        border-radius: 0;
      }
      .tool > summary,
      .run > summary {
        position: relative;
        min-block-size: 2.75rem;
      }
      .tool > summary {
        grid-template-columns: 1rem minmax(0, 1fr) auto 0.875rem;
      }
      .tool > summary:has(> .what > *) > b {
        position: absolute;
        clip-path: inset(50%);
      }
      .tool > summary:not(:has(> .what > *)) > .what {
        display: none;
      }
      :is(.think, .context, .more) > summary,
      .tool > .fold,
      .fold a {
        min-block-size: 2.75rem;
      }
      .fold a {
        display: inline-flex;
        align-items: center;
      }
      .tool pre {
        overflow-wrap: anywhere;
        font-size: var(--t1);
        white-space: pre-wrap;
      }
      .diff {
        font-size: var(--t1);
      }
      .diff .n {
        inline-size: 2.4rem;
        padding-inline: var(--s1);
      }
      .diff .n:first-child {
        display: none;
      }
    }
  }
`
