import { lockDataDir } from '../../../src/eventstore/embedded/lock.ts'

// Locks a folder, says so or why not, and holds it until its standard input ends.
try {
  const lock = await lockDataDir(process.argv[2] ?? '')
  await lock.publish({ url: 'http://127.0.0.1:1', databaseUrl: 'postgresql://somewhere' })
  console.log('mine')
  process.stdin.resume().once('end', () => void lock.release())
} catch (error) {
  console.log(String(error))
}
