import { startNeighbour } from './neighbour.ts'
import { startDouble } from './server.ts'

/**
 * A server in memory in a process of its own, until Ctrl-C; with a number, so many events of other applications are on
 * it; with another, each append costs so many microseconds more for each event; with a third, another application goes on
 * writing, an event every so many milliseconds. Says its URL, for EVENTSTORE_URL or TEST_EVENTSTORE_URL, and to the process
 * that forked it.
 */
const [foreign = '0', appendCostUs = '0', foreignEveryMs] = process.argv.slice(2)
const double = await startDouble({ appendCostUs: Number(appendCostUs) })
double.store.writeForeign(Number(foreign))
if (foreignEveryMs) startNeighbour(double, Number(foreignEveryMs))
if (process.send) process.send(double.url)
else console.log(double.url)
