import { openInBrowser } from '../cli/browser.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { parseTraceLink, traceLink } from '../client/api/trace-link.ts'
import { checkedSignInUrl } from '../client/login/codehost-login.ts'
import { openAccount } from './support/account.ts'
import type { Access } from './support/access.ts'
import { findTrace } from './support/find-trace.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & { readonly browser: boolean }

/** `expiresAt` is in milliseconds, and absent if the page needs no sign-in. */
type Page = { readonly url: string; readonly expiresAt?: number }

/** The page where a browser signs in, and is then redirected to an address of the server. @throws UsageError without a login */
const signInPage = async (access: Access, then?: string): Promise<Page> => {
  const { account, asLogin } = await openAccount(access)
  const target = then === undefined ? undefined : new URL(then)
  const { url, expiresAt } = await asLogin(account.newBrowserPage(target && target.pathname + target.search))
  return { url: checkedSignInUrl(url), expiresAt }
}

const pageOf = async (given: Access, options: Options, name: string | undefined): Promise<Page> => {
  if (name === undefined) {
    if (given.namespace !== undefined) throw new UsageError('--namespace needs the id of a trace.')
    return signInPage(given)
  }
  const { access, trace } = await findTrace(given, options, name)
  const link = traceLink(access.server, trace.namespace.slug, trace.externalId, parseTraceLink(name)?.message)
  return (await access.token()) === undefined ? { url: link } : signInPage(access, link)
}

export const openPage = async (access: Access, options: Options, name: string | undefined): Promise<number> => {
  const page = await pageOf(access, options, name)
  const opened = options.browser && (await openInBrowser(page.url))
  const signsIn = page.expiresAt !== undefined
  if (options.json) await printDocument({ type: 'open', ...page, opened })
  else if (opened) say(signsIn ? 'Confirm the sign-in in your browser within 60 seconds.' : 'Opened in your browser.')
  else {
    say(`Open this address in your browser${signsIn ? ', within 60 seconds' : ''}:`)
    await printLines([page.url])
  }
  return exitCodes.ok
}
