import { css } from '../markup.ts'

/** The page, its head, and the headings of turns. */
export const layout = css`
  * {
    box-sizing: border-box;
  }
  html {
    -webkit-text-size-adjust: 100%;
    text-size-adjust: 100%;
  }
  body {
    margin: 0 auto;
    max-width: 52rem;
    padding: 2.5rem 1.25rem 5rem;
    background: var(--page);
    color: var(--text);
    font:
      1rem/1.6 system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      'Noto Sans',
      sans-serif;
    overflow-wrap: anywhere;
  }
  code,
  pre,
  .tool b {
    font-family: ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  }
  h1 {
    margin: 0.1rem 0 1.1rem;
    font-size: clamp(1.5rem, 1.1rem + 2vw, 2.1rem);
    line-height: 1.2;
    letter-spacing: -0.015em;
    text-wrap: balance;
  }
  .kind {
    margin: 0;
    color: var(--quiet);
    font-size: 0.8rem;
    letter-spacing: 0.06em;
    text-transform: uppercase;
  }
  header {
    padding-bottom: 1.75rem;
    margin-bottom: 1.75rem;
    border-bottom: 1px solid var(--line);
  }
  .facts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr));
    gap: 0.55rem 1.5rem;
    margin: 0;
    font-size: 0.875rem;
  }
  .facts div {
    min-width: 0;
  }
  .facts dt {
    color: var(--quiet);
    font-size: 0.75rem;
  }
  .facts dd {
    margin: 0;
  }
  article {
    margin: 0 0 1.75rem;
  }
  h2,
  h3 {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.6rem;
    align-items: baseline;
    margin: 0 0 0.6rem;
    font-size: 0.85rem;
    line-height: 1.5;
  }
  h2 {
    color: var(--accent);
  }
  h3 span,
  time {
    color: var(--quiet);
    font-size: 0.78rem;
    font-weight: 400;
    font-variant-numeric: tabular-nums;
  }
  time {
    margin-left: auto;
  }
  .prompt {
    margin-top: 2.5rem;
    padding: 0.9rem 1.15rem 1.05rem;
    border-left: 0.25rem solid var(--accent);
    border-radius: 0.6rem;
    background: var(--tint);
  }
`
