import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Evidence } from '../../../src/contract/evidence.ts'
import type { ProvenEventOfTrace } from '../../../src/contract/proof.ts'
import { whyNoGo } from '../../support/go.ts'
import { assembleEvidence } from '../../server/proof/evidence/support/assemble.ts'
import { type Signer, generateSigner } from '../../../src/server/proof/note.ts'
import { audited, checkpointOf, signer, untilSigned } from '../../server/proof/support.ts'
import { type World, newWorld, signIn } from '../../support/world.ts'
import { AT, LINES, emptyFile, goodFiles, logOf, newRepository, session } from './support/evidence-files.ts'
import { type Forgery, forgedKeys, forgeries, forgeriesOfLines } from './support/forgeries.ts'
import {
  HOLDS,
  type Known,
  type Verdict,
  areRefused,
  buildVerifier,
  ownVerdicts,
  verdictsOfGo,
  verdictsOfPython,
  whyNoPython,
} from './support/strangers.ts'

/** A folder for files, with the program of the verifier in Go. */
type Scene = { folder: string; go: string }

const missing = whyNoGo() ?? whyNoPython()
if (missing !== undefined) console.log(`SKIP ${missing}: no verifiers by strangers`)

const test = suite<Scene>('audit: verifiers by strangers')
test.before((scene) => {
  scene.folder = mkdtempSync(join(tmpdir(), 'strangers-'))
  if (missing === undefined) scene.go = buildVerifier(scene.folder)
})
test.after(({ folder }) => rmSync(folder, { recursive: true }))

const key = signer.verifier.text

const bytesOf = (file: unknown): Buffer =>
  Buffer.isBuffer(file) ? file : Buffer.from(typeof file === 'string' ? file : JSON.stringify(file))

type Judged = { readonly what: string; readonly own: Verdict; readonly go: Verdict; readonly python: Verdict }

/** What the three verifiers say of each of these files. */
const judge = async (
  { folder, go }: Scene,
  files: readonly (readonly [what: string, file: unknown])[],
  known: Known,
): Promise<Judged[]> => {
  const paths = files.map((_, i) => join(folder, `${i}.evidence.json`))
  for (const [i, [, file]] of files.entries()) writeFileSync(paths[i]!, bytesOf(file))
  const [own, ofGo, ofPython] = await Promise.all([
    ownVerdicts(paths, known),
    verdictsOfGo(go, paths, known),
    verdictsOfPython(paths, known),
  ])
  return files.map(([what], i) => ({ what, own: own[i]!, go: ofGo[i]!, python: ofPython[i]! }))
}

const said = ({ what, own, go, python }: Judged) => `${what}: ${own.says} / ${go.says} / ${python.says}`

const assertAccepted = (judged: readonly Judged[]) => {
  for (const one of judged) assert.equal([one.own.step, one.go.step, one.python.step], [HOLDS, HOLDS, HOLDS], said(one))
}

const nameOf = (step: Forgery[0]) => (typeof step === 'number' ? `step ${step}` : step)

const assertRefused = (judged: readonly Judged[], forged: readonly Forgery[]) => {
  for (const [i, one] of judged.entries()) {
    const steps = [one.own.step, one.go.step, one.python.step]
    const step = nameOf(forged[i]![0])
    for (const { says } of [one.go, one.python]) assert.not.match(says.trimEnd(), /\p{Cc}/u, one.what)
    if (step === 'any') assert.not(steps.includes(HOLDS), said(one))
    else assert.equal(steps, [step, step, step], said(one))
  }
}

const asJudged = (forged: readonly Forgery[]) => forged.map(([, what, file]) => [what, file] as const)

const judgeForged = async (scene: Scene, forged: readonly Forgery[], known: Known) =>
  assertRefused(await judge(scene, asJudged(forged), known), forged)

/** What the strangers say of a file that holds. */
const assertProves = ({ go, python }: Judged, lines: number, sessions: number, withheld: number, deleted: number) => {
  for (const { says } of [go, python]) {
    assert.match(
      says,
      `these ${lines} lines were in recorded calls of these ${sessions} sessions before this checkpoint`,
    )
    assert.match(says, `${withheld} events are withheld, ${deleted} sessions deleted`)
  }
}

/** A key that ends so that what follows its last plus sign is no base64 by itself. */
const withPlus = (): Signer => {
  for (;;) {
    const found = generateSigner(signer.name)
    if (/\+.{0,3}$/.test(found.verifier.text)) return found
  }
}

const checkMade = async (scene: Scene) => {
  const repository = newRepository(scene.folder, 'made')
  const { repo, sha } = repository
  const good = await judge(scene, goodFiles(sha), { key, repo })
  assertAccepted(good)
  assert.is(good[0]!.own.says, '{"checked":8,"of":8}')
  assertProves(good[0]!, 8, 2, 0, 1)
  for (const { says } of [good[0]!.go, good[0]!.python])
    assert.match(says, 'before this checkpoint: t1 (3 lines), t2 (5 lines)\n')
  const withheld = good.find(({ what }) => what === 'a deletion withheld')!
  assertProves(withheld, 8, 2, 1, 0)
  assertAccepted(await judge(scene, goodFiles(sha), {}))
  assertAccepted(
    await judge(scene, [['a key with a plus sign in its base64', emptyFile(logOf([], withPlus()).log)]], {}),
  )
  await judgeForged(scene, forgeries(repository), { key })
  await judgeForged(scene, forgeriesOfLines(repository), { key, repo })
  await judgeForged(scene, forgedKeys(repository), {})
}

/** As a shell gives them when a variable is not set, or where they are not looked for: a key that nobody looks at must not be thought to be. */
const checkOptions = async (scene: Scene) => {
  const [{ what, go, python }] = (await judge(scene, [['an empty log', emptyFile(logOf([]).log)]], {})) as [Judged]
  for (const { says } of [go, python]) assert.match(says, `${key}, which nobody but the file has named`, what)
  const path = join(scene.folder, '0.evidence.json')
  assert.equal(areRefused(scene.go, ['--key', '', path]), { go: true, python: true })
  assert.equal(areRefused(scene.go, ['--repo', '', path]), { go: true, python: true })
  assert.is(areRefused(scene.go, [path, '--key', key]).go, true)
  assert.is(areRefused(scene.go, [path, path]).go, true)
}

type Answer = { readonly size: number; readonly checkpoint: string; readonly events: ProvenEventOfTrace[] }

const written = (externalId: string, content: string) => ({
  externalId,
  role: 'assistant',
  parts: [
    { type: 'tool_call', content: { callId: externalId, toolName: 'Write', args: { file_path: 'src/a.ts', content } } },
  ],
})

/** A file of a session whose lines are in the repository, one whose past was erased, and one that was deleted, from the answers of a service. */
const newServiceFile = async ({ node, database }: World, sha: string): Promise<Evidence> => {
  const { newTrace, send, namespaceSlug, token } = await signIn(node)
  const one = await newTrace({ agentId: 'claude-code' }, [written('m1', LINES.join('\n'))])
  const two = await newTrace({ agentId: 'codex' }, [
    written('m1', 'a secret \ud800 of the past'),
    written('m2', LINES[5]!),
  ])
  const three = await newTrace({}, [written('m1', 'nothing')])
  await untilSigned(node, token, database)
  const older = await checkpointOf(node, token)
  await send('PUT', `${two.url}/messages/m1`, { role: 'user', textContent: 'no secret' })
  await send('POST', `${two.url}/history/erase`)
  await send('DELETE', three.url)
  const { size } = await untilSigned(node, token, database)
  const answers = await Promise.all(
    [one, two].map(({ url }, i) =>
      send<Answer>('POST', `${url}/proofs`, { messages: i === 0 ? ['m1'] : ['m1', 'm2'] }),
    ),
  )
  const deletion = await send<ProvenEventOfTrace>('GET', `/v1/namespaces/${namespaceSlug}/deletions/${three.id}/proof`)
  const { proof } = await send<{ proof: string[] }>('GET', `/v1/audit/consistency?from=${older.size}&to=${size}`)
  const { checkpoint } = answers[0]!
  const range = { path: 'src/a.ts', evidence: 'run' as const }
  return assembleEvidence({
    ...{ madeAt: AT, madeBy: 'tracebook 0.0.0' },
    log: { origin: signer.name, key, checkpoint, previous: { checkpoint: older.note, proof } },
    sessions: [one, two].map(({ id, externalId }, i) => ({ ...session(id, externalId, 0), answers: [answers[i]!] })),
    commits: [
      {
        sha,
        ranges: [
          { ...range, start: 1, end: 5, session: 0, message: 'm1' },
          { ...range, start: 6, end: 6, session: 1, message: 'm2' },
        ],
        unknown: [],
      },
    ],
    deletions: [{ traceId: three.id, proof: deletion }],
  })
}

const checkServed = async (scene: Scene) => {
  const world = await newWorld({ env: { ...audited, SUMMARY_PROVIDER: 'none' } })
  try {
    const { repo, sha } = newRepository(scene.folder, 'served')
    const file = await newServiceFile(world, sha)
    assert.not.match(JSON.stringify(file), 'secret of the past')
    const judged = await judge(scene, [['from a service', file]], { key, repo })
    assertAccepted(judged)
    assertProves(judged[0]!, 5, 2, 0, 1)
  } finally {
    await world.close()
  }
}

const tests = {
  'find every forgery that the product finds, and accept every file that it accepts': checkMade,
  'do not take an empty or a misplaced key for one that was given': checkOptions,
  'accept what a service has proved, after an erasure and a deletion': checkServed,
}

for (const [name, check] of Object.entries(tests))
  if (missing === undefined) test(name, check)
  else test.skip(name, check)

test.run()
