import { globSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/sync/agents/index.ts'
import { findSessionFiles } from '../../../src/sync/agents/session-files.ts'
import { firstBytes } from '../../../src/sync/agents/support/chunks.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('files in other folders than the agents’ own')
const folderOfData = sharedData()
const data = folderOfData && realpathSync(folderOfData)
if (!data) test.skip('no recorded sessions beside the repository')

/** The agent whose recorded sessions a folder holds; undefined for one that is not in the list. */
const agentOf = (folder: string) => agents.find(({ id }) => id === folder || id.startsWith(`${folder}-`))

const leastStrict = agents.at(-1)!

for (const folder of data ? globSync(['claude-code', 'agents/*'], { cwd: data }) : []) {
  const owner = agentOf(folder.split(sep).at(-1)!)
  const files = globSync(`${folder}/**/*`, { cwd: data!, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))

  test(`of ${folder}, no agent but its own recognises a file`, async () => {
    for (const file of files) {
      const beginning = (await firstBytes(file, 1 << 16)).toString('utf8')
      const others = agents.filter((agent) => agent !== leastStrict && agent !== owner)
      assert.equal(
        others.filter(({ recognises }) => recognises(file, beginning)).map(({ id }) => id),
        [],
        file,
      )
    }
  })

  if (owner)
    test(`each session file of ${folder} is found as one of ${owner.name}`, async () => {
      const found = await findSessionFiles(agents, [join(data!, folder)], { env: {}, home: '/none' }, () =>
        assert.unreachable(),
      )
      const sessions = files.filter((file) => owner.extensions.some((extension) => file.endsWith(extension)))
      assert.equal(
        found.map(({ path, agent }) => `${agent.id} ${path}`).sort(),
        sessions.map((path) => `${owner.id} ${path}`).sort(),
      )
    })
}

test.run()
