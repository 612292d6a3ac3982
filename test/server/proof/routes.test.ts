import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { HttpError } from '../../../src/server/http/http-error.ts'
import { openCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { requireCheckpoint } from '../../../src/server/proof/event-proof.ts'
import { parseEntry } from '../../../src/server/proof/entry.ts'
import { tileIndexPath } from '../../../src/server/proof/tiles.ts'
import { isConsistent, leafHash, rootByInclusion } from '../../../src/server/proof/tree.ts'
import { type Caller, type Team, callers, newTeam, standingOf } from '../../access/team.ts'
import { onServer } from '../../support/database.ts'
import { type World, newWorld, signIn } from '../../support/world.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { naiveRoot } from './naive.ts'
import { audited, checkpointOf, leavesIn, signer, untilSigned, writeTrace } from './support.ts'

type Scene = World & { app: App; token: string; team: Team }

const test = suite<Scene>('proof/routes')
test.before(async (scene) => {
  Object.assign(scene, await newWorld({ env: audited }))
  scene.app = scene.node
  scene.token = (await signIn(scene.app)).token
  scene.team = await newTeam(scene.app, 'team')
})
test.after(({ close }) => close())

const bare = ({ app, token }: Scene, url: string, as: string | null = token) =>
  app.app.inject({ url, headers: as === null ? {} : { authorization: `Bearer ${as}` } })

type Proof = { entry: string; index: number; size: number; proof: string[]; checkpoint: string }

/** Asks until the event is covered; every answer before says when to ask again. */
const untilProved = (scene: Scene, url: string, as = scene.token): Promise<Proof> =>
  until(async () => {
    const { statusCode, headers, body } = await bare(scene, url, as)
    if (statusCode === 200) return JSON.parse(body).data as Proof
    assert.is(statusCode, 404, body)
    assert.ok(Number(headers['retry-after']) <= 10, body)
    return undefined
  })

const assertProves = ({ entry, index, size, proof, checkpoint }: Proof) => {
  const head = openCheckpoint(checkpoint, signer.verifier)
  assert.is(head.size, size)
  const hashes = proof.map((text) => Buffer.from(text, 'base64'))
  assert.equal(rootByInclusion(leafHash(entry), { index, size }, hashes), head.root)
}

test('every event of a trace can be proved, with its texts as stored in the log', async (scene) => {
  const { app, token } = scene
  const id = await writeTrace(app, token, 'proved', 3, 'a\u0000b\ud800')
  for await (const event of app.service.log.read(`trace-${id}`)) {
    const proof = await untilProved(scene, `/v1/traces/proved/events/${event.revision}/proof`)
    assertProves(proof)
    const { type, stream, metadata, data } = event
    assert.equal(parseEntry(proof.entry), { id: event.id, stream, type, metadata, data })
  }
})

test('where no first checkpoint comes in time, it is said when to ask again', async () => {
  const unsigned = await newWorld({ env: { SUMMARY_PROVIDER: 'none' } })
  try {
    const services = { ...unsigned.node.service, checkpoints: { areServed: true, waitUntil: 0 } }
    const error = await requireCheckpoint(services).then(
      () => undefined,
      (refused: HttpError) => refused,
    )
    assert.equal([error?.code, error?.retryAfter], ['not_found', 2])
  } finally {
    await unsigned.close()
  }
})

test('missing events cannot be proved', async (scene) => {
  const { app, token } = scene
  await writeTrace(app, token, 'short', 1)
  for (const [url, status] of [
    ['/v1/traces/short/events/99/proof', 404],
    ['/v1/traces/short/events/9999999999999999/proof', 404],
    ['/v1/traces/short/events/-1/proof', 400],
    ['/v1/traces/short/events/x/proof', 400],
    ['/v1/traces/none/events/0/proof', 404],
  ] as const) {
    const { statusCode, headers, body } = await bare(scene, url)
    assert.is(statusCode, status, url)
    assert.is(headers['retry-after'], undefined)
    assert.is(JSON.parse(body).ok, false)
  }
})

test('a trace that was created again has its own history; admins can prove its deletion', async (scene) => {
  const { app, token } = scene
  const { data } = await app.call('GET', '/v1/session', { token })
  const { namespaceSlug: slug } = (data as { session: { namespaceSlug: string } }).session
  const id = await writeTrace(app, token, 'again', 2)
  await untilSigned(app, token, scene.database)
  assert.is((await app.call('DELETE', '/v1/traces/again', { token })).status, 200)
  assert.is((await bare(scene, '/v1/traces/again/events/0/proof')).statusCode, 404)
  const url = `/v1/namespaces/${slug}/deletions/${id}/proof`
  const proof = await untilProved(scene, url)
  assertProves(proof)
  assert.is(parseEntry(proof.entry)!.type, 'TraceDeleted')
  await writeTrace(app, token, 'again', 1)
  let last: bigint | undefined
  for await (const { revision } of app.service.log.read(`trace-${id}`, { backwards: true, limit: 1 })) last = revision
  assertProves(await untilProved(scene, `/v1/traces/again/events/${last}/proof`))
  for (const revision of [0n, last! - 3n])
    assert.is((await bare(scene, `/v1/traces/again/events/${revision}/proof`)).statusCode, 404, `${revision}`)
  for (const other of [id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), 'no-id', id.toUpperCase()])
    assert.is((await bare(scene, `/v1/namespaces/${slug}/deletions/${other}/proof`)).statusCode, 404, other)
  const foreign = await bare(scene, `/v1/namespaces/team/deletions/${id}/proof`, scene.team.tokenOf('admin', 'here')!)
  assert.is(foreign.statusCode, 404)
})

const expectedOf = (caller: Caller, visibility: string): number => {
  const standing = standingOf(caller)
  if (standing === 'nobody') return 401
  if (standing !== 'stranger') return 200
  return visibility === 'public' ? 403 : 404
}

test('events of a trace are proved to members of its namespace only', async (scene) => {
  const { app, team, database } = scene
  await untilSigned(app, scene.token, database)
  for (const visibility of ['private', 'direct', 'public'])
    for (const caller of callers)
      for (const place of ['here', 'elsewhere'] as const) {
        const token = team.tokenOf(caller, place) ?? null
        const { statusCode } = await bare(scene, `/v1/traces/former-${visibility}/events/0/proof`, token)
        assert.is(statusCode, expectedOf(caller, visibility), `${visibility}, ${caller}, ${place}`)
        assert.is((await bare(scene, '/v1/traces/none/events/0/proof', token)).statusCode, 404, caller)
      }
})

test('events of a namespace, and deletions in it, are proved to its admins only', async (scene) => {
  const { app, team, database } = scene
  const admin = team.tokenOf('admin', 'here')!
  const id = await writeTrace(app, admin, 'gone', 1)
  await app.call('DELETE', '/v1/traces/gone', { token: admin })
  await untilSigned(app, scene.token, database)
  for (const caller of callers)
    for (const [url, ofAdmin] of [
      ['/v1/namespaces/team/events/0/proof', 200],
      [`/v1/namespaces/team/deletions/${id}/proof`, 200],
      ['/v1/namespaces/team/events/999/proof', 404],
    ] as const) {
      const standing = standingOf(caller)
      const expected = standing === 'nobody' ? 401 : standing === 'admin' ? ofAdmin : 403
      assert.is(
        (await bare(scene, url, team.tokenOf(caller, 'elsewhere') ?? null)).statusCode,
        expected,
        `${caller}: ${url}`,
      )
    }
  assert.is((await bare(scene, '/v1/namespaces/no-such-team/events/0/proof', admin)).statusCode, 404)
})

test('tiles have the hashes of the tree, full and partial, and may be cached for ever', async (scene) => {
  const { app, token, database } = scene
  await writeTrace(app, token, 'long', 600)
  const { size } = await untilSigned(app, token, database)
  const leaves = (await leavesIn(database)).map(({ hash }) => hash)
  const rest = size % 256
  for (const [path, hashes] of [
    ['0/000', leaves.slice(0, 256)],
    ['0/001', leaves.slice(256, 512)],
    ['0/000.p/7', leaves.slice(0, 7)],
    [`0/${tileIndexPath((size - rest) / 256)}.p/${rest}`, leaves.slice(size - rest, size)],
    ['1/000.p/2', [naiveRoot(leaves.slice(0, 256)), naiveRoot(leaves.slice(256, 512))]],
  ] as const) {
    const { statusCode, headers, rawPayload } = await bare(scene, `/v1/audit/tile/${path}`)
    assert.is(statusCode, 200, path)
    assert.is(headers['content-type'], 'application/octet-stream')
    assert.match(String(headers['cache-control']), 'private, max-age=31536000, immutable')
    assert.equal(rawPayload, Buffer.concat(hashes), path)
  }
  for (const path of [
    '0/900',
    '1/000',
    '1/000.p/3',
    '2/000.p/1',
    '63/000',
    '64/000',
    '0/x001/234',
    '0/x001%2F234',
    '0/x001/234.p/8',
    '0/000.p/',
    '0/000.p/0',
    '0/000.p/7/8',
    'entries/000',
    '0/x000/000',
    '0/',
  ]) {
    const { statusCode, headers, body } = await bare(scene, `/v1/audit/tile/${path}`)
    assert.is(statusCode, 404, path)
    assert.is(JSON.parse(body).error.code, 'not_found')
    assert.not.match(String(headers['cache-control']), 'max-age')
  }
})

test('a tile of a damaged tree is refused instead of served', async (scene) => {
  const { database } = scene
  await onServer(database.url, 'update tracebook.leaves set index = -1 where index = 3')
  const { statusCode, body } = await bare(scene, '/v1/audit/tile/0/000.p/7')
  await onServer(database.url, 'update tracebook.leaves set index = 3 where index = -1')
  assert.is(statusCode, 503)
  assert.is(JSON.parse(body).error.code, 'unavailable')
})

test('paths of tiles are templates that a client can fill, and those with more digits are served, too', async (scene) => {
  const { paths } = JSON.parse((await scene.app.app.inject('/openapi.json')).body) as { paths: Record<string, object> }
  const tiles = Object.keys(paths).filter((path) => path.startsWith('/v1/audit/tile'))
  assert.equal(tiles, ['/v1/audit/tile/{level}/{index}', '/v1/audit/tile/{level}/{index}.p/{width}'])
  const filled = (path: string, values: Record<string, string>) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!))
  for (const [path, values] of [
    [tiles[0], { level: '0', index: '000' }],
    [tiles[1], { level: '0', index: '000', width: '7' }],
  ] as const)
    assert.is((await bare(scene, filled(path!, values))).statusCode, 200, path)
  const { status } = await scene.app.call('GET', '/v1/audit/tile/0/x001%2F234')
  assert.is(status, 401, 'behind the same gate')
})

test('any two sizes are proved to be consistent, and sizes beyond the tree are refused', async (scene) => {
  const { app, token, database } = scene
  const { size } = await untilSigned(app, token, database)
  const leaves = (await leavesIn(database)).map(({ hash }) => hash)
  const headOf = (size: number) => ({ size, root: naiveRoot(leaves.slice(0, size)) })
  for (const [from, to] of [
    [0, 0],
    [0, size],
    [1, size],
    [7, 256],
    [255, 257],
    [256, size],
    [size, size],
  ] as const) {
    const { body } = await bare(scene, `/v1/audit/consistency?from=${from}&to=${to}`)
    const { data } = JSON.parse(body) as { data: { from: number; to: number; proof: string[] } }
    assert.equal([data.from, data.to], [from, to])
    assert.ok(
      isConsistent(
        headOf(from),
        headOf(to),
        data.proof.map((text) => Buffer.from(text, 'base64')),
      ),
      `${from} ${to}`,
    )
  }
  for (const [query, status] of [
    [`from=1&to=${size + 1000}`, 404],
    [`from=${size + 1000}&to=1`, 404],
    ['from=5&to=4', 400],
    ['from=-1&to=4', 400],
    ['from=1', 400],
    ['from=1.5&to=4', 400],
  ] as const)
    assert.is((await bare(scene, `/v1/audit/consistency?${query}`)).statusCode, status, query)
})

const paths = ['checkpoint', 'key', 'tile/0/000.p/1', 'consistency?from=1&to=2']

test('any session can read checkpoint, key, tiles and consistency', async (scene) => {
  const { team } = scene
  for (const path of paths)
    for (const caller of callers) {
      const { statusCode } = await bare(scene, `/v1/audit/${path}`, team.tokenOf(caller, 'elsewhere') ?? null)
      assert.is(statusCode, standingOf(caller) === 'nobody' ? 401 : 200, `${caller}: ${path}`)
    }
})

test('with AUDIT_PUBLIC=on everybody can, and caches on the way may keep them', async (scene) => {
  const node = await scene.openNode({ env: { AUDIT_PUBLIC: 'on' } })
  for (const path of paths) {
    const { statusCode, headers } = await node.app.inject(`/v1/audit/${path}`)
    assert.is(statusCode, 200, path)
    assert.match(String(headers['cache-control']), /^public, /)
    assert.not.match(String(headers.vary), 'authorization')
  }
  assert.is((await node.app.inject('/v1/audit/tile/0/900')).headers['cache-control'], 'no-store')
  const { size } = await checkpointOf(node)
  assert.ok(size > 0)
  await node.close()
})

test('an event that differs from its leaf is not proved', async (scene) => {
  const { app, token, database } = scene
  const id = await writeTrace(app, token, 'changed', 1)
  await untilSigned(app, token, database)
  await onServer(database.url, `update tracebook.leaves set hash = sha256('x') where stream = $1 and revision = 1`, [
    `trace-${id}`,
  ])
  assert.is((await bare(scene, '/v1/traces/changed/events/1/proof')).statusCode, 503)
})

test.run()
