import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { logFile } from '../../../src/client/watch/log-file.ts'
import { filesBelow } from '../support/files-below.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('the log file of a watch')

test('lines of the log have the time, and are kept in two files of limited size', () => {
  const { path: folder, remove } = tempFolder()
  const file = join(folder, 'state', 'watch.log')
  const log = logFile(file, 1_000)
  log.write('first\nsecond\n')
  assert.match(readFileSync(file, 'utf8'), /^20\S+ first\n20\S+ second\n$/)
  for (let i = 0; i < 200; i++) log.write(`line ${i}\n`)
  assert.equal(filesBelow(folder), ['state', join('state', 'watch.log'), join('state', 'watch.log.1')])
  assert.ok(statSync(file).size < 1_100 && statSync(`${file}.1`).size < 1_100)
  assert.match(readFileSync(file, 'utf8'), /line 199\n$/)
  remove()
})

test('a log line that cannot be written is dropped without an error', () => {
  const { path: folder, remove } = tempFolder()
  writeFileSync(join(folder, 'state'), '')
  assert.is(logFile(join(folder, 'state', 'watch.log')).write('x'), false)
  remove()
})

test.run()
