import { startDouble } from './server.ts'

/**
 * A server in memory in a process of its own, until Ctrl-C; with a number, so many events of other applications are on
 * it. Says its URL, for EVENTSTORE_URL or TEST_EVENTSTORE_URL, and to the process that forked it.
 */
const { url, store } = await startDouble()
store.writeForeign(Number(process.argv[2] ?? 0))
if (process.send) process.send(url)
else console.log(url)
