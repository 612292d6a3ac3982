import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { environmentHelp } from './environment-help.ts'

const help = `
Say this after what kept the stream in quarantine was mended: all its rows are taken away and made anew from
its events, in one transaction, and the stream is served again at once. Where an event of it still cannot be
applied, the stream stays in quarantine from there on, and nothing else has changed. It does not matter
whether a service runs; projections wait for as long as the replay takes.

Examples:
  tracebook log replay trace-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b

${environmentHelp}

Exit codes:
  0  the stream is served again
  1  failed
  2  wrong usage, or the stream is not in quarantine: nothing was changed
  3  the stream stays in quarantine`

/** `tracebook log replay` */
export const replayCommand = (): Command =>
  new Command('replay')
    .description('Make the rows of a stream in quarantine anew from the log, after the cause was mended')
    .argument('<stream>', 'as `tracebook log quarantine` names it')
    .addHelpText('after', help)
    .action((stream: string) => runCommand(async () => (await import('./run/replay.ts')).replay(stream)))
