import { groups as allGroups } from '../../../projections/index.ts'
import { escapeControls } from '../../base/escape.ts'
import { exitCodes } from '../../cli/exit.ts'
import { writeOut } from '../../cli/output.ts'
import type { Client } from '../../eventstore/engine/checkpoint.ts'
import { type Difference, compareSchemas, quarantinedInEither } from '../../eventstore/engine/compare-schemas.ts'
import { type Group, schemaOf } from '../../eventstore/engine/group.ts'
import { type Replica, withReplica } from '../../eventstore/engine/rebuild.ts'
import { newClient, withConnection } from '../../eventstore/postgres/connect.ts'
import { withSchema } from '../support/read-models.ts'
import { type OpenedLog, withLog } from '../support/with-log.ts'
import { selectGroups } from '../rebuild.ts'
import { newProgress } from './progress.ts'

type Options = {
  readonly group?: string
  readonly compare?: boolean
  readonly swap?: boolean
  readonly json?: boolean
}

type Compared = { readonly differences: number; readonly quarantined: number; readonly position: bigint }

/** A slow reader of the differences holds up the transaction. */
const IDLE_TRANSACTION = '1h'

const print = (json: boolean, type: string, details: object, text: string) =>
  writeOut(`${escapeControls(json ? JSON.stringify({ type, ...details }) : text)}\n`)

const differenceText = (group: Group, { table, kind, key = {}, columns = [] }: Difference): string => {
  const values = Object.entries(key).map(([column, value]) => `${column}=${String(value)}`)
  const place = [`${schemaOf(group)}.${table}`, ...values].join(' ')
  return columns.length === 0 ? `${place}: ${kind}` : `${place}: ${kind}: ${columns.join(', ')}`
}

/** Begins a transaction whose snapshot shows both schemas at one position. Returns the position. */
const beginComparison = (client: Client, live: string, replica: Replica): Promise<bigint> =>
  replica.atSamePosition(async () => {
    await client.query('begin isolation level repeatable read read only')
    await client.query(`set local idle_in_transaction_session_timeout = '${IDLE_TRANSACTION}'`)
    return (await client.query<{ position: bigint }>(`select position from ${live}.reached`)).rows[0]!.position
  })

const compare = (url: string, group: Group, replica: Replica, json: boolean): Promise<Compared> =>
  withConnection(newClient(url, 'audit'), async (client) => {
    const schemas = { live: schemaOf(group), replica: replica.schema }
    const position = await beginComparison(client, schemas.live, replica)
    const quarantined = await quarantinedInEither(client, schemas)
    for (const { stream, reason } of quarantined)
      await print(json, 'quarantined', { group: group.name, stream, reason }, `${stream}: in quarantine, not compared`)
    let differences = 0
    for await (const difference of compareSchemas({ client, group, ...schemas, quarantined })) {
      differences += 1
      await print(json, 'difference', { group: group.name, ...difference }, differenceText(group, difference))
    }
    return { differences, quarantined: quarantined.length, position }
  })

const comparedText = ({ differences, quarantined }: Compared): string => {
  const aside =
    quarantined === 0 ? '' : `, without ${quarantined} ${quarantined === 1 ? 'stream' : 'streams'} in quarantine`
  return `${differences === 0 ? 'equal to the served ones' : `${differences} ${differences === 1 ? 'difference' : 'differences'}`}${aside}`
}

const replayGroup = async ({ url, log, codec }: OpenedLog, group: Group, options: Options): Promise<number> => {
  const { json = false } = options
  await withSchema(url, group, async () => {}) // fails if the database has no read models of this version
  const started = performance.now()
  const progress = newProgress(`replay of ${group.name}`)
  let reached = 0n
  const onBatch = (position: bigint, goal: bigint, events: number) => {
    reached = position
    progress.advance(events, position, goal)
  }
  const work = async (replica: Replica) => {
    progress.stop()
    const compared = options.compare ? await compare(url, group, replica, json) : undefined
    if (options.swap) await replica.swap()
    return compared
  }
  const compared = await withReplica({ url, group, log, codec, progress: onBatch }, work).finally(progress.stop)
  const position = compared?.position ?? reached
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const details = { group: group.name, position: `${position}`, ...(compared && { differences: compared.differences }) }
  const result = [`read models ${group.name} replayed to position ${position} in ${seconds} s`]
  if (compared) result.push(comparedText(compared))
  if (options.swap) result.push('swapped')
  await print(json, 'replayed', details, result.join(': '))
  return !compared || compared.differences + compared.quarantined === 0 ? exitCodes.ok : exitCodes.found
}

export const replay = (options: Options): Promise<number> => {
  const groups = selectGroups(allGroups, options.group)
  return withLog(async (opened) => {
    const outcomes: number[] = []
    for (const group of groups) outcomes.push(await replayGroup(opened, group, options))
    return Math.max(...outcomes)
  })
}
