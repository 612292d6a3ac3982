import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('contract/realtime-client: what it imports')
const root = join(import.meta.dirname, '..', '..', '..')

const IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm

test('the client runs in a browser: it imports only its own files and the close codes', () => {
  const files = globSync('src/contract/realtime-client/*.ts', { cwd: root })
  assert.ok(files.length > 2)
  const reached = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path]) =>
      path!.startsWith('.') ? normalize(join(dirname(file), path!)) : path!,
    ),
  )
  assert.equal(
    reached.filter((path) => !path.startsWith('src/contract/realtime-client/')),
    ['src/contract/close-codes.ts'],
  )
})

test.run()
