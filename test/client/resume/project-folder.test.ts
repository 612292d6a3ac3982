import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { projectFolder, projectFolderName } from '../../../src/client/resume/project-folder.ts'

const test = suite('the folder that Claude Code has for a directory')

const root = mkdtempSync(join(tmpdir(), 'projects-'))
test.after(() => rmSync(root, { recursive: true }))

const LONG = `/home/dev/${'very long '.repeat(30)}`

test('all but letters and digits of ASCII become hyphens, each UTF-16 unit one', () => {
  assert.is(projectFolderName('/home/dév/my_app.2'), '-home-d-v-my-app-2')
  assert.is(projectFolderName('/🎉'), '---')
})

test('beyond 200 units it ends with a hash of the path', () => {
  assert.is(projectFolderName(`/${'a'.repeat(199)}`).length, 200)
  assert.match(projectFolderName(LONG), /^-home-dev-(?:very-long-){19}-[0-9a-z]+$/)
  assert.is.not(projectFolderName(`${LONG}a`), projectFolderName(`${LONG}b`))
})

test('of a long path a folder that is there already is taken, if exactly one has a session of it', async () => {
  const own = projectFolderName(LONG)
  const projects = join(root, 'projects')
  assert.is(basename(await projectFolder(projects, LONG)), own)
  const make = (name: string, cwd: string) => {
    mkdirSync(join(projects, name), { recursive: true })
    writeFileSync(join(projects, name, 'a.jsonl'), `${JSON.stringify({ type: 'user', cwd })}\n`)
  }
  make(`${own.slice(0, 200)}-other1`, '/elsewhere')
  assert.is(basename(await projectFolder(projects, LONG)), own)
  make(`${own.slice(0, 200)}-other2`, LONG)
  assert.is(basename(await projectFolder(projects, LONG)), `${own.slice(0, 200)}-other2`)
  make(`${own.slice(0, 200)}-other3`, LONG)
  assert.is(basename(await projectFolder(projects, LONG)), own)
})

test.run()
