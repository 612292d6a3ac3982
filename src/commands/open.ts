import { Command } from 'commander'
import { openInBrowser } from '../cli/browser.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { checkedSignInUrl } from '../sync/login/sign-in-url.ts'
import { openAccount } from './support/account.ts'
import { type Access, type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Opens Tracebook in your browser, signed in as you: a page asks whether this browser shall be, and its
button does it. Its address works once, within 60 seconds; where there is no browser it is printed, to be
opened in one of your own on any machine. Send it to nobody: who opens it can act as you.`,
  examples: [['tracebook open'], ['tracebook open --no-browser', 'prints the address only']],
  documents: [['{"type":"open","url","expiresAt","opened"}', 'opened: a browser was started with it']],
}

type Options = ClientOptions & { readonly browser: boolean }

const openPage = async (access: Access, { browser, json }: Options): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const page = await asLogin(account.newBrowserPage())
  const url = checkedSignInUrl(page.url)
  const opened = browser && (await openInBrowser(url))
  if (json) await printDocument({ type: 'open', url, expiresAt: page.expiresAt, opened })
  else if (opened) say('Your browser shows the page: press its button within 60 seconds.')
  else {
    say('Open this address in your browser, within 60 seconds:')
    await printLines([url])
  }
  return exitCodes.ok
}

/** `tracebook open`: signs in a browser. Output and exit codes in its help. */
export const openCommand = (): Command =>
  clientCommand<Options>(new Command('open').option('--no-browser', 'open no browser, print the address'), {
    help,
    namespace: false,
    run: openPage,
  })
