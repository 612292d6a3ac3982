import { css } from '../markup.ts'

/** The colours of both schemes: text has a contrast of at least 4.5 with what is behind it. */
export const colours = css`
  :root {
    color-scheme: light dark;
    --page: #fbfbfa;
    --text: #1c2128;
    --quiet: #596069;
    --line: #dcdfe3;
    --card: #ffffff;
    --tint: #eef3fb;
    --accent: #2457b3;
    --code: #f4f5f6;
    --bad: #a8201a;
    --bad-tint: #fdeeec;
    --added: #e2f5e6;
    --added-text: #14512a;
    --removed: #fde8e6;
    --removed-text: #862018;
    --red: #a8201a;
    --green: #14612e;
    --yellow: #705200;
    --blue: #0b4fa8;
    --magenta: #7a2f9e;
    --cyan: #0a5f6b;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --page: #14171b;
      --text: #e4e7eb;
      --quiet: #a0a8b2;
      --line: #343a42;
      --card: #1b1f24;
      --tint: #1c2635;
      --accent: #8ab4f8;
      --code: #1d2127;
      --bad: #ff8f85;
      --bad-tint: #35201f;
      --added: #16321f;
      --added-text: #a5e5b6;
      --removed: #3b1f1f;
      --removed-text: #ffb3ab;
      --red: #ff8f85;
      --green: #7fdc97;
      --yellow: #e2bd5a;
      --blue: #8ab4f8;
      --magenta: #d7a5f0;
      --cyan: #73d7e2;
    }
  }
`
