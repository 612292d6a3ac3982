import pg from 'pg'
import { type Test, suite } from 'uvu'
import * as assert from 'uvu/assert'
import { storeEventsSingly } from '../../../support/single-events.ts'
import { TreeDiffers } from '../../../../src/server/proof/stored-tree.ts'
import type { Finding } from '../../../../src/server/proof/verify/findings.ts'
import { type Filled, findingsOf, openFilled, storedCheckpoint } from './support.ts'
import { newWays, ways } from './ways.ts'
import { runs } from '../../../support/runs.ts'

type Kept = Awaited<ReturnType<typeof storedCheckpoint>>
/** A log that is tampered with and put back, again and again. */
export type Scene = Filled & { client: pg.Client; kept: Kept }

const tables = [
  'log.appends',
  'tracebook.leaves',
  'tracebook.subtrees',
  'tracebook.tree',
  'tracebook.audit_keys',
  'tracebook.processes',
]

/** Puts back all that was tampered with. */
export const restore = async (client: pg.Client) => {
  await client.query(`truncate ${tables.join(', ')}`)
  for (const table of tables) await client.query(`insert into ${table} select * from public.${table.replace('.', '_')}`)
}

/** What a check of the log finds. */
export const check = ({ database, kept }: Scene): Promise<readonly Finding[]> =>
  findingsOf(database, { kept }).catch((error: unknown) => {
    if (error instanceof TreeDiffers) return [{ kind: 'tree', detail: error.message }]
    throw error
  })

/** Findings, for people. */
export const said = (found: readonly Finding[]) =>
  found
    .map(({ kind, id, detail }) => `${kind} ${id} ${detail}`)
    .join('; ')
    .slice(0, 2_000)

/** A suite over a log that is there before, with copies of all that may be tampered with. */
export const tamperingSuite = (name: string): Test<Scene> => {
  const test = suite<Scene>(name)
  test.before(async (scene) => {
    Object.assign(scene, await openFilled())
    await storeEventsSingly(scene.database.url)
    scene.client = new pg.Client({ connectionString: scene.database.url })
    await scene.client.connect()
    scene.kept = await storedCheckpoint(scene.database)
    for (const table of tables)
      await scene.client.query(`create table public.${table.replace('.', '_')} as table ${table}`)
  })
  test.after(async ({ client, close }) => {
    await client.end()
    await close()
  })
  test('nothing is found in an unchanged log', async (scene) => assert.equal(await check(scene), []))
  return test
}

const names = Object.keys(ways)

/** Tampers in each of the ways; each repetition chooses other events. */
export const testEachWay = (test: Test<Scene>): void => {
  for (let seed = 1; seed <= runs(names.length); seed++) {
    const name = names[seed % names.length]!
    test(`${seed}: whoever ${name} is found`, async (scene) => {
      const named = await ways[name]!(newWays(scene.client, seed))
      const found = await check(scene)
      await restore(scene.client)
      assert.ok(found.length > 0, 'nothing was found')
      for (const id of named)
        assert.ok(
          found.some((finding) => finding.id === id),
          `${id} is not named: ${said(found)}`,
        )
      if (named.length > 0)
        for (const one of found) if (one.id) assert.ok(one.stream && one.revision !== undefined, said([one]))
    })
  }
}
