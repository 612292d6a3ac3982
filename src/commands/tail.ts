import { Command, InvalidArgumentError } from 'commander'
import { clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { idHelp } from './support/id-help.ts'
import type { Options } from './run/tail.ts'

const help: Help = {
  about: `
Shows what is there, and then each change as it happens, until Ctrl-C. Without an id: a line for
each trace of your namespace that is new or has changed, of its 200 newest ones. With one: its
messages; calls of tools, their results and thinking on one line each. A lost connection is made
again, and nothing is missed.

${idHelp} A trace that is not there yet, named by its whole id, is
waited for. Public traces and the public feed need no login.`,
  examples: [
    ['tracebook tail', 'all of your namespace'],
    ['tracebook tail 0192f0c1', 'one trace'],
    ['tracebook tail --public --json', 'the public feed, for a script'],
  ],
  documents: [
    ['{"type":"message","message"}', 'a message that is new or has changed, as the API shows it'],
    ['{"type":"trace","trace"}', 'a trace that is new or has changed, as the feed shows it'],
    ['{"type":"gone"}', 'what was shown is gone, or may not be read any more'],
  ],
  exitCodes: {
    0: 'ended by Ctrl-C',
    1: 'the server refused',
    2: 'wrong usage, not logged in, or logged out or removed from the namespace meanwhile',
  },
}

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 on.')
  return Number(text)
}

/** `tracebook tail`: follows a trace, a namespace or the public feed. Output and exit codes in its help. */
export const tailCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('tail')
      .argument('[id]', 'the trace: its id, the beginning of one, or a link (default: all of your namespace)')
      .option('--public', 'follow the public feed')
      .option('-n, --lines <count>', 'how many messages or traces to show at first', wholeNumber, 10),
    { help, run: async (...args) => (await import('./run/tail.ts')).tail(...args) },
  )
