import { hostname, userInfo } from 'node:os'
import { Command, InvalidArgumentError } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { environmentHelp } from './environment-help.ts'
import type { SkipOptions } from './run/skip.ts'

const help = `
An event is added to the log that says which event is passed over, who decided so, and why. The event itself
stays in the log, but no read model applies it any more, also after \`tracebook rebuild\`: what it said is lost
for readers. This cannot be taken back. Where a projector runs, the rows of the stream are made anew without
the event within seconds; else as soon as one does.

Examples:
  tracebook log skip --position 1204 --why "a title that no version can read"

${environmentHelp}

Exit codes:
  0  the event is passed over
  1  failed
  2  wrong usage, or no event at this position keeps a stream in quarantine: nothing was changed
  3  the event is passed over, and another one keeps its stream in quarantine`

const parsePosition = (text: string): bigint => {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A position is a whole number above 0.')
  return BigInt(text)
}

const parseText = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text.trim()
}

/** `user@host` of this process; with the number of the user where it has no name, as in some containers. */
const currentUser = (): string => {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

/** `tracebook log skip` */
export const skipCommand = (): Command =>
  new Command('skip')
    .description('Pass over an event that keeps its stream in quarantine, for good')
    .requiredOption(
      '--position <position>',
      'where the event stands: `tracebook log quarantine` names it',
      parsePosition,
    )
    .requiredOption('--why <text>', 'the reason, for those who read the log later', parseText)
    .option('--by <name>', 'who decides it', parseText, currentUser())
    .addHelpText('after', help)
    .action((options: SkipOptions) => runCommand(async () => (await import('./run/skip.ts')).skip(options)))
