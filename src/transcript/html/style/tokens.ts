import { css } from '../markup.ts'

/**
 * The order of all layers, and the values that rules are made of. The scheme is that of the system, unless `data-theme` of `html` says
 * another. Text has a contrast of at least 4.5 with what is behind it.
 */
export const tokens = css`
  @layer tokens, base, parts, pages, narrow, print;
  @layer tokens {
    :root {
      color-scheme: light dark;
      /* surfaces */
      --paper: light-dark(#fdfdfb, #141517);
      --sheet: light-dark(#ffffff, #1b1c1f);
      --well: light-dark(#f5f5f2, #0e0f11);
      --hover: light-dark(#f0f0ec, #222428);
      --line: light-dark(#e3e3dd, #2b2d32);
      --edge: light-dark(#85878a, #72757b);
      /* text */
      --text: light-dark(#1a1b1d, #e6e6e2);
      --soft: light-dark(#55585e, #abaeb4);
      --faint: light-dark(#6a6d73, #8f9298);
      /* the accent: people, links, focus, the main action */
      --ink: light-dark(#2743c4, #9db1ff);
      --ink-strong: light-dark(#1c3199, #c0ccff);
      --ink-tint: light-dark(#eff2fd, #1a2036);
      --ink-line: light-dark(#c3cdf5, #36426f);
      --on-ink: light-dark(#ffffff, #10152b);
      /* meanings, always beside a word or a sign */
      --ok: light-dark(#176b3a, #7fcf9c);
      --ok-tint: light-dark(#e8f5ec, #12261a);
      --ok-mark: light-dark(#bfe5cb, #1f4a30);
      --bad: light-dark(#b3261e, #ff9d94);
      --bad-tint: light-dark(#fdeeec, #2d1715);
      --bad-mark: light-dark(#f8cbc6, #5b2723);
      --warn: light-dark(#7d5200, #e8bd66);
      --warn-tint: light-dark(#fcf3df, #2a2110);
      --find: light-dark(#ffe58a, #6a5200);
      /* code */
      --c-key: light-dark(#7a2f8f, #d3a4e6);
      --c-str: light-dark(#136536, #93cfa6);
      --c-num: light-dark(#8a4b00, #e5b577);
      --c-name: light-dark(#1c3199, #a9baff);
      --c-note: light-dark(#66696f, #8f9298);
      --c-cyan: light-dark(#0b6a75, #7ccfd8);
      --tick: light-dark(#b9bbbf, #55585f);
      /* letters: margin, details and code, controls, reading, section, page */
      --sans: system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
      --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
      --t1: 0.75rem;
      --t2: 0.8125rem;
      --t3: 0.875rem;
      --t4: 1rem;
      --t5: 1.25rem;
      --t6: 1.625rem;
      /* space */
      --s1: 0.25rem;
      --s2: 0.5rem;
      --s3: 0.75rem;
      --s4: 1rem;
      --s5: 1.5rem;
      --s6: 2rem;
      --s7: 3rem;
      --r1: 4px;
      --r2: 8px;
      --r3: 12px;
      /* the margin with the times, the bar of the site, the least height of a control */
      --margin: 4.25rem;
      --bar: 3.25rem;
      --tap: 2rem;
      --float: 0 8px 32px light-dark(#0000001f, #000000a6), 0 1px 3px light-dark(#0000001a, #00000080);
      --scrim: light-dark(#17181a59, #000000a6);
    }
    [data-theme='light'] {
      color-scheme: light;
    }
    [data-theme='dark'] {
      color-scheme: dark;
    }
  }
`
