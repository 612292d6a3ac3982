import { io } from '../../cli/io.ts'
import open from 'open'
import { askLine, askToConfirm } from '../../cli/ask.ts'
import { sayLines } from '../../cli/output.ts'
import type { Prompts } from './codehost-login.ts'

/** For a user who has confirmed in advance, with `--yes`. */
const sayAndConfirm = async (description: string): Promise<boolean> => {
  sayLines(description)
  return true
}

type Options = { readonly opensBrowser: boolean; readonly assumeYes: boolean }

/**
 * Prompts on the terminal that the command runs in. Without a terminal there are none, except that the code is read from
 * standard input when no browser is opened. `assumeYes` confirms without asking.
 */
export const newTerminalPrompts = ({ opensBrowser, assumeYes }: Options): Prompts => ({
  openSignInPage: (url) => {
    sayLines(`Sign in at this address:\n\n  ${url}\n`)
    if (!opensBrowser) return
    // Failing to open a browser is no error: the address is said above.
    open(url).then(
      (child) => child.once('error', () => {}),
      () => {},
    )
  },
  askForCode:
    io().stdin.isTTY || !opensBrowser ? (signal) => askLine('Code: ', 'no code was given', signal) : undefined,
  confirm: assumeYes ? sayAndConfirm : io().stdin.isTTY ? askToConfirm : undefined,
})
