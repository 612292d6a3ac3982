import { hostname, userInfo } from 'node:os'
import { Command, InvalidArgumentError } from 'commander'
import { readModels } from '../../projections/index.ts'
import { readConfig } from '../config.ts'
import { connectForApplying } from '../engine/apply.ts'
import { readCheckpoint } from '../engine/checkpoint.ts'
import { type Codec, newCodec } from '../engine/codec.ts'
import { schemaOf } from '../engine/group.ts'
import { type Quarantined, readQuarantine } from '../engine/quarantine.ts'
import { replayStream } from '../engine/replay.ts'
import { locks } from '../engine/schema.ts'
import { skipEvent } from '../engine/skip.ts'
import { formats } from '../events.ts'
import type { EventLog } from '../log/log.ts'
import { openLog } from '../log/open-log.ts'
import { hangUp } from '../postgres/connect.ts'
import { endLeader } from '../postgres/leader.ts'
import { databaseOf } from './rebuild.ts'

/** The groups whose quarantine an operator can see and mend. */
const groups = [readModels]

type Opened = { readonly url: string; readonly log: EventLog; readonly codec: Codec }

const withLog = async (work: (opened: Opened) => Promise<void>) => {
  const config = readConfig(process.env)
  const url = await databaseOf(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  await work({ url, log, codec: newCodec(formats) }).finally(() => log.close())
}

const line = ({ stream, position, revision, type, reason, at }: Quarantined) =>
  `${stream}  since ${new Date(at).toISOString()}\n` +
  `  event ${type} at position ${position} (revision ${revision}): ${reason}`

const list = (json: boolean) => async () => {
  const config = readConfig(process.env)
  const url = await databaseOf(config)
  for (const group of groups) {
    const schema = schemaOf(group)
    const client = await connectForApplying(url, schema)
    const found = await readQuarantine(client, schema).finally(() => hangUp(client))
    for (const one of found) {
      const document = { group: group.name, ...one, position: `${one.position}`, revision: `${one.revision}` }
      console.log(json ? JSON.stringify(document) : line(one))
    }
    if (found.length === 0 && !json) console.log(`no stream of the group ${group.name} is in quarantine`)
  }
}

/** Makes the rows of a stream anew in one group, while its runner waits; the runner then begins from what is stored. */
const replayIn = async (group: (typeof groups)[number], { url, log, codec }: Opened, stream: string) => {
  const schema = schemaOf(group)
  const client = await connectForApplying(url, schema)
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [locks.swap(schema)])
    const { position } = await readCheckpoint(client, schema)
    const culprit = await replayStream({ client, group, schema }, { log, codec }, stream, position)
    await endLeader(client, locks.runner(schema))
    await client.query('commit')
    return culprit
  } finally {
    await hangUp(client)
  }
}

const replay = (stream: string) =>
  withLog(async (opened) => {
    for (const group of groups) {
      const culprit = await replayIn(group, opened, stream)
      if (culprit) throw new Error(`${stream} stays in quarantine\n${line(culprit)}`)
      console.log(`the rows of ${stream} have been made anew in the group ${group.name}`)
    }
  })

const skip = ({ position, why, by }: { position: bigint; why: string; by: string }) =>
  withLog(async ({ log, codec }) => {
    const { stream, type } = await skipEvent(log, codec, { position, why, by, now: Date.now })
    console.log(
      `${type} at position ${position} is passed over for good; the rows of ${stream} are made anew without it`,
    )
  })

const positionOf = (text: string): bigint => {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A position is a whole number above 0.')
  return BigInt(text)
}

const uses = '\nUses DATABASE_URL, or the service that runs on DATA_DIR; with EVENTSTORE_URL the log is there.'

export const quarantineCommand = (): Command =>
  new Command('quarantine')
    .description('List the streams that are left aside since an event of theirs could not be applied')
    .option('--json', 'one JSON document a line')
    .addHelpText('after', uses)
    .action(({ json }: { json?: boolean }) => list(json ?? false)())

export const replayCommand = (): Command =>
  new Command('replay')
    .description('Make the rows of one stream anew from the log, after what kept it in quarantine was mended')
    .argument('<stream>', 'as `tracebook log quarantine` names it')
    .addHelpText('after', uses)
    .action(replay)

export const skipCommand = (): Command =>
  new Command('skip')
    .description('Pass over one event for good: an event in the log says so, who decided it, and why')
    .requiredOption('--position <position>', 'the position of the event in the log', positionOf)
    .requiredOption('--why <text>', 'the reason, for whoever reads the log later')
    .option('--by <name>', 'who decides it', `${userInfo().username}@${hostname()}`)
    .addHelpText('after', uses)
    .action(skip)
