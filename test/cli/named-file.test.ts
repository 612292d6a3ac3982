import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../src/cli/exit.ts'
import { explainMissingFile, explainOutput } from '../../src/cli/named-file.ts'

const test = suite('errors with files that the user has named')

const reading = (file: string) => readFile(file).catch(explainMissingFile(file)).catch(explained)
const writing = (file: string) => writeFile(file, 'x').catch(explainOutput(file)).catch(explained)
const explained = (error: unknown) => [error instanceof UsageError, (error as Error).message]

const folder = tmpdir()
const none = join(folder, 'none', 'x')

test('a file to read that is not there, or is a folder', async () => {
  assert.equal(await reading(none), [true, `There is no file ${none}.`])
  assert.equal(await reading(folder), [true, `${folder} is a folder.`])
})

test('a file to write whose folder is not there, or that is a folder', async () => {
  assert.equal(await writing(none), [true, `${none} cannot be written: its folder does not exist.`])
  assert.equal(await writing(folder), [true, `${folder} is a folder: name a file in it.`])
})

const full = '/dev/full'

if (existsSync(full))
  test('a disk that is full', async () =>
    assert.equal(await writing(full), [false, `There is no space left for ${full}.`]))

test.run()
