import type { ErrorCode } from '../contract/errors.ts'
import { markup } from '../transcript/html/markup.ts'
import type { Page } from './page.ts'

/** What a browser shows instead of the JSON of these errors. */
export const errorPages: { readonly [Code in ErrorCode]?: Page } = {
  not_found: {
    title: 'Not found',
    content: markup`<p>There is nothing at this address, or nothing that you may read. If it was shared with you, ask for a new link, or sign in:
<code>tracebook open</code> signs this browser in.</p>
<p><a href="/">Tracebook</a></p>
`,
  },
  unauthorized: {
    title: 'Sign in first',
    content: markup`<p>You have to be signed in to read this. <code>tracebook open</code> signs this browser in.</p>
<p><a href="/">Tracebook</a></p>
`,
  },
}
