import { shortTime } from '../../cli/short-time.ts'
import { connectForApplying } from '../../engine/apply.ts'
import { type Group, schemaOf } from '../../engine/group.ts'
import { type QuarantinedStream, readQuarantine } from '../../engine/quarantine.ts'
import { schemasOf } from '../../engine/schema.ts'
import { closeConnection } from '../../postgres/connect.ts'

/** A stream in quarantine, and the group of read models that cannot apply its event. */
export type QuarantinedInGroup = { readonly group: Group; readonly quarantined: QuarantinedStream }

type Client = Awaited<ReturnType<typeof connectForApplying>>

/** Runs `work` with a connection to the schema of a group. @throws Error when the database has no such schema */
export const withSchema = async <T>(
  url: string,
  group: Group,
  work: (client: Client, schema: string) => Promise<T>,
): Promise<T> => {
  const schema = schemaOf(group)
  const client = await connectForApplying(url, schema)
  try {
    if (!(await schemasOf(client, group)).includes(schema))
      throw new Error(`the database has no read models ${schema}: no service of this version has run on it`)
    return await work(client, schema)
  } finally {
    await closeConnection(client)
  }
}

/** All streams in quarantine, of all groups. @throws Error when the database lacks the schema of a group */
export const findQuarantined = async (url: string, groups: readonly Group[]): Promise<QuarantinedInGroup[]> => {
  const streams: QuarantinedInGroup[] = []
  for (const group of groups) {
    const inGroup = await withSchema(url, group, readQuarantine)
    streams.push(...inGroup.map((quarantined) => ({ group, quarantined })))
  }
  return streams
}

/** The stream with its event and the reason, on two lines. */
export const describeQuarantined = ({ group, quarantined }: QuarantinedInGroup): string => {
  const { stream, position, revision, type, reason, at } = quarantined
  return (
    `${stream}  since ${shortTime(at)}\n` +
    `  event ${type} at position ${position} (revision ${revision}): ${reason} (read models: ${group.name})`
  )
}
