import type { ErrorCode } from '../contract/errors.ts'
import { markup } from '../transcript/html/markup.ts'
import { commandHtml } from './commands.ts'
import { signInPath } from './links.ts'
import type { Page } from './page.ts'

/** An error as a page shows it. */
export type ShownError = {
  readonly code: ErrorCode
  readonly message: string
  /** What is wrong with what was sent, each in a sentence. */
  readonly issues: readonly string[]
  readonly requestId: string
  /** The path of the page that was asked for; undefined if a form was sent. */
  readonly path: string | undefined
}

const blank = (title: string, content: Page['content']): Page => ({
  title,
  name: 'error',
  heading: markup``,
  content: markup`<div class="blank"><h1>${title}</h1>\n${content}</div>\n`,
})

/** The same for what does not exist and for what the viewer may not read. */
const notFound: Page = blank(
  'Not found',
  markup`<p>There is nothing at this address, or nothing that you may read. If it was shared with you, ask for a new link, or sign in:</p>
${commandHtml('tracebook open')}
<p><a href="/">All sessions</a></p>
`,
)

const unauthorized = (path: string): Page =>
  blank(
    'Sign in first',
    markup`<p>You have to be signed in to read this. On your machine, this signs in your browser:</p>
${commandHtml('tracebook open')}
<p><a href="${signInPath(path)}">Other ways to sign in</a></p>
`,
  )

const titles: { readonly [Code in ErrorCode]?: string } = {
  unavailable: 'Not available right now',
  rate_limited: 'Too many requests',
  internal: 'Something went wrong',
  forbidden: 'Not allowed',
}

/** What a browser shows instead of the JSON of an error. */
export const errorPage = ({ code, message, issues, requestId, path }: ShownError): Page => {
  if (code === 'not_found') return notFound
  if (code === 'unauthorized') return unauthorized(path ?? '/')
  return blank(
    titles[code] ?? 'This did not work',
    markup`<p>${message}</p>
${issues.map((issue) => markup`<p>${issue}</p>\n`)}${path === undefined ? markup`<p>Nothing was changed. Go back to the page with the form.</p>\n` : markup`<p><a class="btn" href="${path}">Try again</a></p>\n`}<p class="faint">Request <code>${requestId}</code></p>
`,
  )
}
