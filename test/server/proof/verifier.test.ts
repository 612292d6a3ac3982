import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { buildGo, whyNoGo } from '../../support/go.ts'
import { newWorld, signIn } from '../../support/world.ts'
import { generateSigner } from '../../../src/server/proof/note.ts'
import { audited, checkpointOf, signer, untilSigned, writeTrace } from './support.ts'

const test = suite('proof: Go’s checksum database as a verifier')

/** A verifier that is not ours: Go's `sumdb/note` and `sumdb/tlog`. */
const source = join(import.meta.dirname, 'verifier', 'main.go')

const run = async (program: string, task: object) => {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(JSON.stringify(task))
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err, code: code as number }
}

const check = () =>
  inFolder(async (folder) => {
    const { node: app, database, close } = await newWorld({ env: { ...audited, AUDIT_PUBLIC: 'on' } })
    try {
      const program = buildGo(folder, source)
      const base = await app.app.listen({ host: '127.0.0.1', port: 0 })
      const { token } = await signIn(app)
      await writeTrace(app, token, 'first', 30)
      await untilSigned(app, token, database)
      const { note: older, size: from } = await checkpointOf(app, token)
      await writeTrace(app, token, 'second', 1_500, 'Tä \u0000 \ud800 "quoted"')
      const { size } = await untilSigned(app, token, database)

      const ask = async (url: string) => (await app.call('GET', url, { token })).data as { proof: string[] }
      const proofs = await Promise.all([0, 1, 700, 1_501].map((n) => ask(`/v1/traces/second/events/${n}/proof`)))
      const messages = Array.from({ length: 100 }, (_, i) => `m${15 * i}`)
      const together = await app.call('POST', '/v1/traces/second/proofs', { token, body: { messages } })
      const { events, ...tree } = together.data as { events: { proof: string[] }[]; size: number; checkpoint: string }
      assert.is(events.length, 101)
      proofs.push(...events.map((event) => ({ ...event, ...tree })))
      const sizes = [
        [1, 2],
        [from, size],
        [255, 256],
        [256, 1_025],
        [1_000, size],
      ] as const
      const consistencies = await Promise.all(
        sizes.map(([from, to]) => ask(`/v1/audit/consistency?from=${from}&to=${to}`)),
      )
      const task = { base, key: signer.verifier.text, older, proofs, consistencies }
      assert.equal(await run(program, task), { out: `${size}\n`, err: '', code: 0 })

      const [first, ...others] = proofs
      const bent = { ...first!, proof: [...first!.proof].reverse() }
      assert.is((await run(program, { ...task, proofs: [bent, ...others] })).code, 1)
      assert.is((await run(program, { ...task, key: generateSigner(signer.name).verifier.text })).code, 1)
    } finally {
      await close()
    }
  })

const missing = whyNoGo()
if (missing === undefined) test('believes checkpoint, tiles and proofs, and nothing that was bent', check)
else {
  console.log(`SKIP no other verifier checks the proofs: ${missing}`)
  test.skip('believes checkpoint, tiles and proofs, and nothing that was bent', check)
}

test.run()
