import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { limitServerLog, openServerLog, lastLines } from '../../../src/eventstore/embedded/server-log.ts'
import { inFolder } from './support.ts'

const test = suite('server log')

test('is emptied when it is too long, while others write to it, and one older log is kept', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'postgres.log')
    await writeFile(file, 'old')
    const writer = await openServerLog(file)
    await writer.write('er')
    await limitServerLog(file, 5)
    assert.is(await readFile(file, 'utf8'), 'older')
    await limitServerLog(file, 4)
    await writer.write('new')
    await writer.close()
    assert.equal(await Promise.all([file, `${file}.1`].map((each) => readFile(each, 'utf8'))), ['new', 'older'])
  }))

test('returns its last lines', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'postgres.log')
    assert.is(await lastLines(file), '')
    await writeFile(file, 'first\nlast\n')
    assert.is(await lastLines(file, 5), 'last')
    assert.is(await lastLines(file), 'first\nlast')
  }))

test.run()
