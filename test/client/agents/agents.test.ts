import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/client/agents/index.ts'

const test = suite('the list of agents')

test('each agent has an id and a name of its own', () => {
  assert.is(new Set(agents.map(({ id }) => id)).size, agents.length)
  assert.is(new Set(agents.map(({ name }) => name)).size, agents.length)
})

for (const { name, roots, isSessionFile, extensions } of agents) {
  test(`${name} looks below the user's home, without relying on the environment`, () => {
    const folders = roots({}, '/home/ada')
    assert.ok(folders.length > 0)
    for (const folder of folders) assert.ok(folder.startsWith('/home/ada/'), folder)
  })

  test(`${name} does not treat another program’s files as sessions`, () => {
    assert.ok(extensions.length > 0)
    for (const file of ['/home/ada/notes.txt', '/home/ada/.ssh/id_ed25519', '/home/ada/x.jsonl.bak'])
      assert.not(isSessionFile(file), file)
  })
}

test.run()
