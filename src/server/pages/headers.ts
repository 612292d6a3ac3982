import { createHash } from 'node:crypto'
import { style } from '../../transcript/html/document.ts'
import { styleAddress } from './assets.ts'

const styleHash = createHash('sha256').update(style).digest('base64')

/** The policy of an exported session: no script runs, nothing is loaded, and the only style is its style sheet, by its hash. */
const filePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/**
 * The Content-Security-Policy of every page: scripts and styles are files of this origin, none is in the page itself, and a text
 * becomes HTML in a browser only by the policy `tracebook` of `client/fragment.ts`. `formTargets` are the sources of `form-action`: every page
 * has the form of the search.
 */
export const pagePolicy = (formTargets = "'self'"): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action ${formTargets}; ` +
  "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tracebook"

type Headers = Readonly<Record<string, string>>

/** The headers of a page, and of every other answer of its route, such as a redirect. */
export const pageHeaders: Headers = {
  'content-security-policy': pagePolicy(),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'DENY',
}

/** The headers of an answer that is a page. A browser paints nothing before it has the style sheet, so it is asked to fetch that before it parses the page. */
export const documentHeaders: Headers = { ...pageHeaders, link: `<${styleAddress}>; rel=preload; as=style` }

/**
 * The headers of an exported session. A browser may open it from the address of the service, so it gets an origin of its own by
 * `sandbox`. That excludes `cross-origin-opener-policy`: browsers refuse a page with both.
 */
export const sessionHeaders: Headers = {
  'content-security-policy': `sandbox; ${filePolicy}`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

/**
 * The reference at `/docs` is the one page with a looser policy, because a library makes it: it runs scripts of this origin, which
 * call the API, and its widgets set inline styles and load pictures.
 */
export const referenceHeaders: Headers = {
  ...pageHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
