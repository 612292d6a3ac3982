import { groups } from '../../../projections/index.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { printDocument, printLines, sayLines } from '../../cli/output.ts'
import { shortTime } from '../../cli/time-text.ts'
import { readConfig } from '../../server/config.ts'
import type { Group } from '../../eventstore/engine/group.ts'
import { type QuarantinedStream, readQuarantine } from '../../eventstore/engine/quarantine.ts'
import { replayServed } from '../../eventstore/engine/replay.ts'
import { skipEvent } from '../../eventstore/engine/skip.ts'
import { UNSKIPPABLE } from '../../server/events.ts'
import { findDatabaseUrl } from '../support/database.ts'
import { haveCaughtUp, withSchema } from '../support/read-models.ts'
import { type OpenedLog, withLog } from '../support/with-log.ts'

/** A stream in quarantine, and the group of read models that cannot apply its event. */
type QuarantinedInGroup = { readonly group: Group; readonly quarantined: QuarantinedStream }

/** All streams in quarantine, of all groups. @throws Error when the database lacks the schema of a group */
export const findQuarantined = async (url: string, among: readonly Group[]): Promise<QuarantinedInGroup[]> => {
  const streams: QuarantinedInGroup[] = []
  for (const group of among) {
    const inGroup = await withSchema(url, group, readQuarantine)
    streams.push(...inGroup.map((quarantined) => ({ group, quarantined })))
  }
  return streams
}

/** The stream with its event and the reason, on two lines. */
const describeQuarantined = ({ group, quarantined }: QuarantinedInGroup): string => {
  const { stream, position, revision, type, reason, at } = quarantined
  return (
    `${stream}  since ${shortTime(at)}\n` +
    `  event ${type} at position ${position} (revision ${revision}): ${reason} (read models: ${group.name})`
  )
}

const documentOf = ({ group, quarantined }: QuarantinedInGroup) => ({
  group: group.name,
  ...quarantined,
  position: `${quarantined.position}`,
  revision: `${quarantined.revision}`,
})

export const list = async ({ json = false }: { readonly json?: boolean }): Promise<number> => {
  const streams = await findQuarantined(await findDatabaseUrl(readConfig(io().env)), groups)
  for (const stream of streams)
    await (json ? printDocument(documentOf(stream)) : printLines(describeQuarantined(stream).split('\n')))
  if (streams.length > 0) return exitCodes.found
  if (!json) await printLines(['No stream is in quarantine.'])
  return exitCodes.ok
}

const stays = (stream: string, found: readonly QuarantinedInGroup[]): string =>
  `${stream} stays in quarantine:\n${found.map(describeQuarantined).join('\n')}`

export const replay = (_options: object, stream: string): Promise<number> =>
  withLog(async ({ url, log, codec }) => {
    const found = (await findQuarantined(url, groups)).filter(({ quarantined }) => quarantined.stream === stream)
    if (found.length === 0)
      throw new UsageError(
        `${stream} is not in quarantine. To list the streams that are, run: tracebook log quarantine`,
      )
    let exitCode: number = exitCodes.ok
    // Groups that read the rows of such a group have missed the rows that were not there.
    const isMeant = ({ name, behind }: Group) =>
      found.some(({ group }) => group.name === name || group.name === behind?.name)
    for (const group of groups.filter(isMeant)) {
      const quarantined = await withSchema(url, group, (client) =>
        replayServed({ client, group }, { log, codec }, stream),
      )
      if (quarantined) exitCode = exitCodes.found
      if (quarantined) sayLines(stays(stream, [{ group, quarantined }]))
      else await printLines([`The rows of ${stream} were rebuilt (read models: ${group.name}).`])
    }
    return exitCode
  })

type SkipOptions = { readonly position: bigint; readonly why: string; readonly by: string }

/** Waits for the read models, prints the state of the stream after `done`, and returns the exit code. */
const reportSkipped = async ({ url, log }: OpenedLog, stream: string, done: string): Promise<number> => {
  if (!(await haveCaughtUp(url, groups, await log.head()))) {
    await printLines([`${done} The rows of ${stream} will be rebuilt as soon as a projector runs.`])
    return exitCodes.ok
  }
  const found = (await findQuarantined(url, groups)).filter(({ quarantined }) => quarantined.stream === stream)
  if (found.length === 0) {
    await printLines([`${done} The rows of ${stream} were rebuilt.`])
    return exitCodes.ok
  }
  await printLines([done])
  sayLines(stays(stream, found))
  return exitCodes.found
}

export const skip = ({ position, why, by }: SkipOptions): Promise<number> =>
  withLog(async (opened) => {
    const { url, log, codec } = opened
    const found = (await findQuarantined(url, groups)).find(({ quarantined }) => quarantined.position === position)
    if (!found)
      throw new UsageError(
        `No event at position ${position} keeps a stream in quarantine. To list those that do, run: tracebook log quarantine`,
      )
    const { stream } = found.quarantined
    const decision = { stream, position, why, by, now: Date.now, unskippable: UNSKIPPABLE }
    const { type } = await skipEvent(log, codec, decision)
    return reportSkipped(opened, stream, `${type} at position ${position} is skipped for good.`)
  })
