import type { ErrorCode } from '../../contract/errors.ts'
import { type Html, markup } from '../../transcript/html/markup.ts'
import { clientHtml } from './commands.ts'
import { signInPath } from './links.ts'
import { type Page, blankPage } from './page.ts'

/** An error as a page shows it. */
export type ShownError = {
  readonly code: ErrorCode
  readonly message: string
  /** The mistakes in the request, each as a sentence. */
  readonly issues: readonly string[]
  readonly requestId: string
  /** The page that the viewer asked for, or the page with the form that was sent; undefined if unknown. */
  readonly path: string | undefined
  /** The address of the service as commands may name it. */
  readonly service: string | undefined
  /** The address that the viewer has reached. */
  readonly origin: string
  /** Whether the mistakes are in the address of the page, and not in a form. */
  readonly isOfAddress: boolean
  /** Whether the viewer may see more after signing in. */
  readonly canSignIn: boolean
}

const blank = (title: string, content: Page['content']): Page => ({ ...blankPage(title, content), name: 'error' })

type Asked = Pick<ShownError, 'service' | 'origin'>

/** A text of an address, encoded anew so that no shell finds anything in it. @throws URIError */
const forShell = (encoded: string): string =>
  encodeURIComponent(decodeURIComponent(encoded)).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** The session, and the message in it, that a path leads to, as an argument of a command; undefined for any other path. */
const sessionIn = (path: string, at: string): string | undefined => {
  const [segments = '', ...queries] = path.split('?')
  const [before, place = '', id = ''] = segments.split('/')
  const slug = place.slice(1)
  if (before !== '' || !place.startsWith('@') || slug === '' || id === '') return undefined
  try {
    const session = `${at}/@${forShell(slug)}/${forShell(id)}`
    const message = new URLSearchParams(queries.join('?')).get('m')
    // Some shells look for files with the name of a text that has a question mark.
    return message === null ? session : `"${session}?m=${forShell(encodeURIComponent(message))}"`
  } catch {
    return undefined
  }
}

/** The command that signs in the browser, and opens the session and the message that were asked for. */
export const openHtml = ({ service, origin }: Asked, path: string): Html => {
  const session = sessionIn(path, service ?? origin)
  return clientHtml(service, session === undefined ? 'open' : `open ${session}`)
}

/** The page for an address that leads nowhere, and for one that the viewer may not read: it does not tell which of both is the case. */
const notFound = (error: ShownError): Page =>
  blank(
    'Not found',
    markup`<p>There is nothing at this address, or nothing that you may read. If it was shared with you, ask for a new link${
      error.canSignIn ? markup`, or sign in:</p>\n${openHtml(error, error.path ?? '/')}` : markup`.</p>\n`
    }<p><a href="/">All sessions</a></p>
`,
  )

const unauthorized = ({ service, origin, path = '/' }: ShownError): Page =>
  blank(
    'Sign in first',
    markup`<p>You have to be signed in to read this. On your machine, this signs in your browser:</p>
${openHtml({ service, origin }, path)}
<p><a href="${signInPath(path)}">Other ways to sign in</a></p>
`,
  )

const wrongAddress = ({ path = '/' }: ShownError): Page =>
  blank(
    'This link does not work',
    markup`<p>A part of its address is not valid. Perhaps the link is old, or was cut or changed on its way.</p>
<p><a class="btn" href="${path}">Open the page from its beginning</a></p>
`,
  )

const titles: { readonly [Code in ErrorCode]?: string } = {
  unavailable: 'Not available right now',
  rate_limited: 'Too many requests',
  internal: 'Something went wrong',
  forbidden: 'Not allowed',
}

/** The page of an error, which a browser gets instead of its JSON. */
export const errorPage = (error: ShownError): Page => {
  const { code, message, issues, requestId, path } = error
  if (code === 'not_found') return notFound(error)
  if (code === 'unauthorized') return unauthorized(error)
  if (code === 'invalid_request' && error.isOfAddress) return wrongAddress(error)
  const onward =
    path === undefined || (code === 'forbidden' && error.isOfAddress)
      ? markup`<p><a href="/">All sessions</a></p>\n`
      : markup`<p><a class="btn" href="${path}">Try again</a></p>\n`
  return blank(
    titles[code] ?? 'This did not work',
    markup`<p>${message}</p>
${issues.map((issue) => markup`<p>${issue}</p>\n`)}${onward}<p class="faint">Request <code>${requestId}</code></p>
`,
  )
}
