import { Command } from 'commander'
import { groups } from '../../../projections/index.ts'
import { runCommand, exitOnUsage, exitCodes } from '../../cli/exit.ts'
import { replayServed } from '../../engine/replay-served.ts'
import { EXIT_QUARANTINED, withSchema, describeQuarantined, findQuarantined } from './quarantined-streams.ts'
import { environmentHelp, withLog } from './with-log.ts'

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
  1  failed or refused (the stream is not in quarantine): nothing was changed
  2  wrong usage
  3  the stream stays in quarantine`

const replay = (stream: string): Promise<number> =>
  withLog(async ({ url, log, codec }) => {
    const found = (await findQuarantined(url, groups)).filter(({ quarantined }) => quarantined.stream === stream)
    if (found.length === 0)
      throw new Error(`${stream} is not in quarantine; \`tracebook log quarantine\` lists the streams that are`)
    let exitCode: number = exitCodes.ok
    for (const { group } of found) {
      const quarantined = await withSchema(url, group, (client) =>
        replayServed({ client, group }, { log, codec }, stream),
      )
      if (quarantined) exitCode = EXIT_QUARANTINED
      if (quarantined) console.error(`${stream} stays in quarantine:\n${describeQuarantined({ group, quarantined })}`)
      else console.log(`The rows of ${stream} have been made anew (read models: ${group.name}).`)
    }
    return exitCode
  })

/** `tracebook log replay` */
export const replayCommand = (): Command =>
  new Command('replay')
    .description('Make the rows of a stream in quarantine anew from the log, after the cause was mended')
    .argument('<stream>', 'as `tracebook log quarantine` names it')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((stream: string) => runCommand(() => replay(stream)))
