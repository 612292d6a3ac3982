import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commandName, commandNameFor, fetchedByNpx, type Started } from '../../src/cli/command-name.ts'

const test = suite('how the command is called')

const clone: Started = {
  script: '/clone/src/tracebook.js',
  root: '/clone',
  cwd: '/clone',
  execPath: '/n/node',
  env: { PATH: '/usr/bin' },
}
const installed = (folder: string): Started => ({
  ...clone,
  script: `${folder}/node_modules/.bin/tracebook`,
  root: `${folder}/node_modules/tracebook`,
  env: { PATH: `${folder}/node_modules/.bin:/usr/bin`, npm_command: 'exec', INIT_CWD: '/home/ada' },
})

test('a command that is installed for all folders is called by its name', () => {
  const link = { script: '/usr/bin/tracebook', root: '/usr/lib/node_modules/tracebook', cwd: '/home/ada' }
  assert.is(commandNameFor({ ...clone, ...link }), 'tracebook')
})

test('in a clone, and in a project that has it installed, the command is called through npx', () => {
  assert.is(commandNameFor(clone), 'npx tracebook')
  assert.is(commandNameFor({ ...clone, cwd: '/clone/src' }), 'npx tracebook')
  assert.is(commandNameFor({ ...clone, env: { npm_command: 'start', INIT_CWD: '/clone' } }), 'npx tracebook')
  assert.is(
    commandNameFor({ ...installed('/home/ada/project'), env: { INIT_CWD: '/home/ada/project' } }),
    'npx tracebook',
  )
})

test('anywhere else the command is called by its file: npx would ask the public registry for the name', () => {
  assert.is(commandNameFor({ ...clone, cwd: '/home/ada' }), 'node /clone/src/tracebook.js')
  assert.is(commandNameFor({ ...clone, cwd: '/clone-of-another' }), 'node /clone/src/tracebook.js')
  assert.is(commandNameFor({ ...clone, root: "/ada's clone", cwd: '/' }), `node '/ada'\\''s clone/src/tracebook.js'`)
})

test('a command that npx has fetched from a file is called by its Node and its file', () => {
  assert.is(
    commandNameFor(installed('/home/ada/.npm/_npx/1f')),
    '/n/node /home/ada/.npm/_npx/1f/node_modules/tracebook/src/tracebook.js',
  )
})

test('a command that npx has fetched from a service is called so again', async () => {
  const from = 'https://traces.example.org/client/tracebook-0.1.0.tgz'
  assert.is(commandNameFor({ ...installed('/home/ada/.npm/_npx/1f'), fetchedFrom: from }), `npx --yes ${from}`)
  const home = await mkdtemp(join(tmpdir(), 'npx-'))
  try {
    const cache = join(home, '_npx', '1f')
    await mkdir(cache, { recursive: true })
    const noted = async (tracebook: string) => {
      await writeFile(join(cache, 'package.json'), JSON.stringify({ dependencies: { tracebook } }))
      return fetchedByNpx(join(cache, 'node_modules', 'tracebook'))
    }
    assert.is(await noted(from), from)
    assert.is(await noted('file:/home/ada/tracebook-0.1.0.tgz'), undefined)
    await writeFile(join(cache, 'package.json'), 'half of')
    assert.is(fetchedByNpx(join(cache, 'node_modules', 'tracebook')), undefined)
    assert.is(fetchedByNpx('/home/ada/project/node_modules/tracebook'), undefined)
    assert.is(fetchedByNpx('/clone'), undefined)
  } finally {
    await rm(home, { recursive: true })
  }
})

test('in this clone the command is called through npx', () => assert.is(commandName, 'npx tracebook'))

test.run()
