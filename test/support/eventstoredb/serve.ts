import { startDouble } from './server.ts'

/**
 * A server in memory in a process of its own, until Ctrl-C; with a number, so many events of other applications are on
 * it; with another, each append costs so many microseconds more for each event. Says its URL, for EVENTSTORE_URL or
 * TEST_EVENTSTORE_URL, and to the process that forked it.
 */
const [foreign = '0', appendCostUs = '0'] = process.argv.slice(2)
const { url, store } = await startDouble({ appendCostUs: Number(appendCostUs) })
store.writeForeign(Number(foreign))
if (process.send) process.send(url)
else console.log(url)
