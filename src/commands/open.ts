import { Command } from 'commander'
import { openInBrowser } from '../cli/browser.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { traceLink } from '../sync/api/trace-link.ts'
import { checkedSignInUrl } from '../sync/login/sign-in-url.ts'
import { openAccount } from './support/account.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { findTrace, idHelp } from './support/find-trace.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Opens Tracebook, or one trace of it, in your browser, signed in as you: a page asks whether this browser
shall be, and its button does it. Its address works once, within 60 seconds; where there is no browser it
is printed, to be opened in one of your own on any machine. Send it to nobody: who opens it can act as you.
To show a trace to others, use "tracebook share". A public trace needs no login.

${idHelp}`,
  examples: [
    ['tracebook open'],
    ['tracebook open 0192f0c1', 'goes on to the trace'],
    ['tracebook open --no-browser', 'prints the address only'],
  ],
  documents: [
    ['{"type":"open","url","expiresAt"?,"opened"}', 'opened: a browser was started with it'],
    ['    expiresAt is absent for a public trace without a login: the address is for everybody'],
  ],
}

type Options = ClientOptions & { readonly browser: boolean }

/** `expiresAt` is in milliseconds, and absent for a page that needs no sign-in. */
type Page = { readonly url: string; readonly expiresAt?: number }

/** The page where a browser signs in, and goes on to an address of the server. @throws UsageError without a login */
const signInPage = async (access: Access, goOnTo?: string): Promise<Page> => {
  const { account, asLogin } = await openAccount(access)
  const target = goOnTo === undefined ? undefined : new URL(goOnTo).pathname
  const { url, expiresAt } = await asLogin(account.newBrowserPage(target))
  return { url: checkedSignInUrl(url), expiresAt }
}

const pageOf = async (given: Access, options: Options, name: string | undefined): Promise<Page> => {
  if (name === undefined) {
    if (given.namespace !== undefined) throw new UsageError('--namespace goes with a trace')
    return signInPage(given)
  }
  const { access, trace } = await findTrace(given, options, name)
  const link = traceLink(access.server, trace.namespace.slug, trace.externalId)
  return (await access.token()) === undefined ? { url: link } : signInPage(access, link)
}

const openPage = async (access: Access, options: Options, name: string | undefined): Promise<number> => {
  const page = await pageOf(access, options, name)
  const opened = options.browser && (await openInBrowser(page.url))
  const signsIn = page.expiresAt !== undefined
  if (options.json) await printDocument({ type: 'open', ...page, opened })
  else if (opened) say(signsIn ? 'Your browser asks: press its button within 60 seconds.' : 'Your browser shows it.')
  else {
    say(`Open this address in your browser${signsIn ? ', within 60 seconds' : ''}:`)
    await printLines([page.url])
  }
  return exitCodes.ok
}

/** `tracebook open`: shows Tracebook in a browser that is signed in. Output and exit codes in its help. */
export const openCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('open')
      .argument('[id]', 'the trace: its id, the beginning of one, or a link (default: the start page)')
      .option('--no-browser', 'open no browser, print the address'),
    { help, namespace: 'the namespace that the trace is in', run: openPage },
  )
