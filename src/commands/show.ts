import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/show.ts'

const help: Help = {
  about: `
Shows a trace: what is known of it, then its messages. Calls of tools, their results and thinking take
one line each; with --full they are shown whole. Public traces need no login.

${idHelp}

On a terminal a long trace is shown in a pager: that of $PAGER, else less. PAGER=cat or --no-pager prints
it straight away. "tracebook export" writes a file; "tracebook tail" goes on with what comes.`,
  examples: [
    ['tracebook show 0192f0c1'],
    ['tracebook show 0192f0c1 --full', 'with all that the tools were given and gave'],
    ['tracebook show https://traces.example.org/@team/0192f0c1', 'by a link'],
    ['tracebook show 0192f0c1 --json', 'for scripts'],
  ],
  documents: [
    ['{"type":"trace","trace"}', 'the trace, as the API shows it'],
    ['{"type":"message","message"}', 'each of its messages in order, with its parts'],
  ],
}

/** `tracebook show`: a trace with its messages. Output and exit codes in its help. */
export const showCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('show')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .option('--full', 'all that tools were given and gave, and all thinking')
      .option('--no-pager', 'print it straight away'),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/show.ts')).show(...args),
    },
  )
